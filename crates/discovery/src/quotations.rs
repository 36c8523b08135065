//! Splits a query into quoted and unquoted parts.

/// The weight of words in quotes: they are more likely a value than a description of the task.
const QUOTED_WEIGHT: f64 = 0.4;
/// Longer text between quotation marks is not a quotation.
const MAX_QUOTATION_CHARS: usize = 60;

/// The parts of a query, and the weight of their words.
pub(crate) fn weighted_parts(query: &str) -> Vec<(&str, f64)> {
    let mut parts = Vec::new();
    let mut rest = query;
    let mut search_start = 0;
    let is_boundary = |character: Option<char>| !character.is_some_and(is_word_character);
    while let Some(offset) = rest[search_start..].find(['"', '\'', '`']) {
        let start = search_start + offset;
        let mark = &rest[start..=start];
        let inside = &rest[start + 1..];
        let before = rest[..start].chars().next_back();
        let mut characters = inside.char_indices().take(MAX_QUOTATION_CHARS + 1);
        let closing = characters.find_map(|(position, character)| {
            let quotation = &inside[..position];
            let is_trimmed = !quotation.is_empty()
                && !quotation.starts_with(char::is_whitespace)
                && !quotation.ends_with(char::is_whitespace);
            let is_closing =
                mark.starts_with(character) && is_boundary(inside[position + 1..].chars().next());
            (is_trimmed && is_closing).then_some(position)
        });
        let closing = closing.filter(|_| is_boundary(before));
        let Some(length) = closing else {
            search_start = start + 1;
            continue;
        };
        // Quotes around the whole query change nothing.
        if start == 0 && rest.len() == query.len() && inside.len() == length + 1 {
            break;
        }
        parts.push((&rest[..start], 1.0));
        parts.push((&inside[..length], QUOTED_WEIGHT));
        rest = &inside[length + 1..];
        search_start = 0;
    }
    parts.push((rest, 1.0));
    parts
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_parts_weigh_less_unless_the_whole_query_is_quoted() {
        let parts = |query| -> Vec<(String, bool)> {
            let parts = weighted_parts(query).into_iter();
            let parts = parts.map(|(text, weight)| (text.trim().to_owned(), weight < 1.0));
            parts.filter(|(text, _)| !text.is_empty()).collect()
        };
        let part = |text: &str, is_quoted| (text.to_owned(), is_quoted);
        assert_eq!(
            parts("find 'a b' in \"c\" now"),
            [
                part("find", false),
                part("a b", true),
                part("in", false),
                part("c", true),
                part("now", false)
            ]
        );
        assert_eq!(parts("'find it'"), [part("'find it'", false)]);
        assert_eq!(
            parts("don't find what isn't"),
            [part("don't find what isn't", false)]
        );
        let long = format!("x '{}'", "y ".repeat(60));
        assert_eq!(parts(&long), [part(long.trim(), false)]);
        assert_eq!(
            parts("`ls` '' \""),
            [part("ls", true), part("'' \"", false)]
        );
    }
}
