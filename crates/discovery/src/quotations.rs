//! Finds what stands in quotes within a query.

/// What is in quotes within a query is rather a value than what to do.
const QUOTED: f64 = 0.4;
/// More than this is no quotation.
const LONGEST_QUOTATION: usize = 60;
/// The parts of a query, and how much their words count.
pub(crate) fn quotations(query: &str) -> Vec<(&str, f64)> {
    let mut parts = Vec::new();
    let mut rest = query;
    let mut from = 0;
    let is_border = |character: Option<char>| !character.is_some_and(is_word);
    while let Some(start) = rest[from..].find(['"', '\'', '`']).map(|at| from + at) {
        let sign = &rest[start..=start];
        let inside = &rest[start + 1..];
        let before = rest[..start].chars().next_back();
        let mut within = inside.char_indices().take(LONGEST_QUOTATION + 1);
        let closing = within.find_map(|(at, character)| {
            let quotation = &inside[..at];
            let is_tight = !quotation.is_empty()
                && !quotation.starts_with(char::is_whitespace)
                && !quotation.ends_with(char::is_whitespace);
            let is_end = sign.starts_with(character) && is_border(inside[at + 1..].chars().next());
            (is_tight && is_end).then_some(at)
        });
        let closing = closing.filter(|_| is_border(before));
        let Some(length) = closing else {
            from = start + 1;
            continue;
        };
        // A query that is one quotation means what it says.
        if start == 0 && rest.len() == query.len() && inside.len() == length + 1 {
            break;
        }
        parts.push((&rest[..start], 1.0));
        parts.push((&inside[..length], QUOTED));
        rest = &inside[length + 1..];
        from = 0;
    }
    parts.push((rest, 1.0));
    parts
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_quotes_counts_less_unless_it_is_all() {
        let weights = |query| -> Vec<(String, bool)> {
            let parts = quotations(query).into_iter();
            let parts = parts.map(|(text, weight)| (text.trim().to_owned(), weight < 1.0));
            parts.filter(|(text, _)| !text.is_empty()).collect()
        };
        let text = |text: &str, is_quoted| (text.to_owned(), is_quoted);
        assert_eq!(
            weights("find 'a b' in \"c\" now"),
            [
                text("find", false),
                text("a b", true),
                text("in", false),
                text("c", true),
                text("now", false)
            ]
        );
        assert_eq!(weights("'find it'"), [text("'find it'", false)]);
        assert_eq!(
            weights("don't find what isn't"),
            [text("don't find what isn't", false)]
        );
        let long = format!("x '{}'", "y ".repeat(60));
        assert_eq!(weights(&long), [text(long.trim(), false)]);
        assert_eq!(
            weights("`ls` '' \""),
            [text("ls", true), text("'' \"", false)]
        );
    }
}
