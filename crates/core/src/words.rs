//! Turns text into the form in which a search compares it.

/// Text as a search compares it: without regard to case. Each character by itself, so that a part of
/// a folded text is the folded part.
#[must_use]
pub fn fold(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.map(|it| if it == 'ς' { 'σ' } else { it }).collect()
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
    fn folding_does_not_depend_on_what_is_around() {
        assert_eq!(fold("ΟΔΟΣ ΟΔΟΣ"), "οδοσ οδοσ");
        assert_eq!(fold("οδός"), "οδόσ");
        assert_eq!(fold("Größe İ"), "größe i̇");
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let folded = fold("Git_Log --Größe, v2.0");
        assert_eq!(
            words(&folded).collect::<Vec<_>>(),
            ["git", "log", "größe", "v2", "0"]
        );
    }
}
