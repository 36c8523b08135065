//! Turns text into the form in which a search compares it.

/// Text as a search compares it: without regard to case.
#[must_use]
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}

/// The words of folded text: runs of letters and digits.
pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let folded = fold("Git_Log --Größe, v2.0");
        assert_eq!(
            words(&folded).collect::<Vec<_>>(),
            ["git", "log", "größe", "v2", "0"]
        );
    }
}
