//! Expands `~`, `$NAME` and `${NAME}` in the texts of configs and policies at run time.

use std::borrow::Cow;
use std::env;

/// Expands a leading `~` and all variables. References to unset variables stay as they are.
#[must_use]
pub fn expand(text: &str) -> Cow<'_, str> {
    let with_home = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            env::home_dir().map(|home| Cow::Owned(format!("{}{rest}", home.display())))
        }
        _ => None,
    };
    let text = with_home.unwrap_or(Cow::Borrowed(text));
    if text.contains('$') {
        let get = |name: &str| env::var(name).ok();
        Cow::Owned(substitute(&text, &get).0)
    } else {
        text
    }
}

/// Expands all variables. Returns `None` if one of them is not set.
#[must_use]
pub fn expand_if_set(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('$') {
        return Some(Cow::Borrowed(text));
    }
    let (expanded, all_set) = substitute(text, &|name| env::var(name).ok());
    all_set.then_some(Cow::Owned(expanded))
}

/// The names of the variables in a text.
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    let references = text.split('$').skip(1);
    references.filter_map(|after| parse_variable(after).0)
}

/// The first variable in a text that is unset or empty.
#[must_use]
pub fn unset_variable(text: &str) -> Option<&str> {
    variables(text).find(|name| env::var(name).unwrap_or_default().is_empty())
}

/// Replaces variables by their values. Returns the text, and whether all variables had a value.
fn substitute(text: &str, get: &dyn Fn(&str) -> Option<String>) -> (String, bool) {
    let mut expanded = String::with_capacity(text.len());
    let mut all_set = true;
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        expanded += &rest[..dollar];
        let after = &rest[dollar + 1..];
        let (name, length) = parse_variable(after);
        let reference = &rest[dollar..=dollar + length];
        match name.map(get) {
            Some(Some(value)) => expanded += &value,
            Some(None) => {
                all_set = false;
                expanded += reference;
            }
            None => expanded += reference,
        }
        rest = &after[length..];
    }
    (expanded + rest, all_set)
}

/// Parses what follows a dollar sign: the variable's name, if there is one, and the length of the reference
/// in bytes.
fn parse_variable(after: &str) -> (Option<&str>, usize) {
    if let Some(braced) = after.strip_prefix('{') {
        return match braced.find('}') {
            Some(end) => (Some(&braced[..end]), end + 2),
            None => (None, 0),
        };
    }
    let is_name_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let end = after
        .find(|character| !is_name_part(character))
        .unwrap_or(after.len());
    ((end > 0).then_some(&after[..end]), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_one_variable(text: &str) -> (String, bool) {
        substitute(text, &|name| (name == "A").then(|| "one".to_owned()))
    }

    #[test]
    fn variables_are_replaced_and_unset_ones_stay() {
        for (text, expanded, all_set) in [
            ("$A/x", "one/x", true),
            ("${A}x$A", "onexone", true),
            ("$B ${B} $A", "$B ${B} one", false),
            ("cost: 5$", "cost: 5$", true),
            ("${A", "${A", true),
            ("$-$A", "$-one", true),
            ("ä$A", "äone", true),
        ] {
            assert_eq!(
                with_one_variable(text),
                (expanded.to_owned(), all_set),
                "{text}"
            );
        }
    }

    #[test]
    fn a_tilde_is_the_home_directory_at_the_start_only() {
        let home = env::home_dir().expect("a home directory");
        assert_eq!(expand("~/bin/x"), format!("{}/bin/x", home.display()));
        assert_eq!(expand("~"), home.display().to_string());
        assert_eq!(expand("~nobody/x"), "~nobody/x");
        assert_eq!(expand("a ~/x"), "a ~/x");
    }
}
