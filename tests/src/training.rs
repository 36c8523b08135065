//! The texts that teach the word vectors what people mean.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The descriptions and requests of `vectors/requests.txt`, as [`plain_words`].
///
/// # Panics
/// The file cannot be read.
#[must_use]
pub fn training_texts() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/requests.txt");
    let content = fs::read_to_string(path).expect("the requests can be read");
    let lines = content.lines().filter(|line| !line.starts_with('#'));
    let texts = lines.flat_map(|line| line.split(" = ").flat_map(|part| part.split(" | ")));
    texts.map(plain_words).collect()
}

/// The words of a text in lower case, without punctuation.
#[must_use]
pub fn plain_words(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").to_lowercase()
}
