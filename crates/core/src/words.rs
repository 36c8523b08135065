//! Folds the case of text and splits it into words, for the index and for queries.

/// Folds case. Each character is folded independently of its neighbours, so folding a substring gives the
/// same result as taking the substring of the folded text.
#[must_use]
pub fn fold(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    let without_final_sigma = |letter| if letter == 'ς' { 'σ' } else { letter };
    lower.map(without_final_sigma).collect()
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
    fn folding_does_not_depend_on_neighbouring_characters() {
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
