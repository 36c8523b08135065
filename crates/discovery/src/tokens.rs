//! Turns text into the terms by which tools are found. Builds and searches share it.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// The base letters of `à` to `ſ`, and of the accented letters from `Ḁ` on.
const LATIN: [(char, &str); 2] = [
    (
        'à',
        "aaaaaa-ceeeeiiiidnooooo-ouuuuy-yaaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii--jjkkkll\
         llllllllnnnnnnnnnoooooo--rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs",
    ),
    (
        'Ḁ',
        "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrr\
         rrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy-s----aaaaaaaaaaaaaaaaaaaaaaa\
         aeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy------",
    ),
];

/// Turns words into terms.
pub struct Tokeniser {
    stemmer: Stemmer,
}

impl Default for Tokeniser {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }
}

impl Tokeniser {
    /// The term of a word: its stem. Words that tell nothing have none.
    #[must_use]
    pub fn term<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        (!is_filler(word)).then(|| self.stem(word))
    }

    /// The stem of a word.
    #[must_use]
    pub fn stem<'w>(&self, word: &'w str) -> Cow<'w, str> {
        self.stemmer.stem(word)
    }
}

/// Whether a word is in every other sentence and tells nothing about a tool.
#[must_use]
#[rustfmt::skip]
pub fn is_filler(word: &str) -> bool {
    // A letter is rather an option than a word.
    word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic() || matches!(
        word,
        "a" | "about" | "also" | "am" | "an" | "and" | "any" | "are" | "as" | "at" | "be" |
        "because" | "been" | "being" | "between" | "but" | "by" | "can" | "certain" | "could" |
        "did" | "do" | "does" | "doing" | "done" | "for" | "from" | "give" | "given" |
        "had" | "has" | "have" | "having" | "he" | "help" | "here" | "how" | "i" | "if" | "in" |
        "into" | "is" | "it" | "its" | "just" | "let" | "like" | "may" | "me" |
        "might" | "mine" | "must" | "my" | "need" | "no" | "not" | "of" | "on" | "onto" | "or" |
        "other" | "our" | "out" | "over" | "please" | "shall" | "she" | "should" | "so" |
        "some" | "specific" | "such" | "tell" | "than" | "that" | "the" | "their" | "them" |
        "then" | "there" | "these" | "they" | "this" | "those" | "to" | "under" | "up" | "us" |
        "use" | "used" | "using" | "various" | "via" | "want" | "was" | "we" | "were" | "what" |
        "when" | "where" | "which" | "while" | "who" | "whom" | "whose" | "why" | "will" |
        "with" | "within" | "without" | "would" | "yes" | "you" | "your"
    )
}

/// Hands over the words of a text, folded: runs of letters and digits, their parts where `camelCase` is,
/// and then the whole too. Runs of Chinese, Japanese and Korean signs have no gaps, so every pair of signs
/// is a word. Endings such as `'s` and `n't` are left out.
pub fn words(text: &str, mut take: impl FnMut(&str)) {
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let is_dense = rest.starts_with(is_dense);
        let belongs = |character: char| {
            (character.is_alphanumeric() || is_mark(character))
                && self::is_dense(character) == is_dense
        };
        let end = rest
            .find(|character| !belongs(character))
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        if is_dense {
            pairs(run, &mut take);
        } else {
            parts(run, &mut take);
            rest = rest
                .strip_prefix(['\'', '\u{2019}'])
                .and_then(after_ending)
                .unwrap_or(rest);
        }
    }
}

/// A name as it is compared with a query: runs of letters and digits, folded, joined by `_`. A name that
/// has none stays as it is.
#[must_use]
pub fn key(name: &str) -> String {
    let is_part = |character: char| character.is_alphanumeric() || is_mark(character);
    let mut key = String::with_capacity(name.len());
    for run in name.split(|character| !is_part(character)) {
        if !key.is_empty() && !run.is_empty() {
            key.push('_');
        }
        for character in run.chars() {
            fold(character, &mut key);
        }
    }
    if key.is_empty() {
        name.trim().to_lowercase()
    } else {
        key
    }
}

/// What follows an ending, if one is there.
fn after_ending(rest: &str) -> Option<&str> {
    ["s", "m", "t", "re", "ve", "ll", "d"]
        .iter()
        .find_map(|ending| {
            let head = rest.get(..ending.len())?;
            let after = &rest[ending.len()..];
            let is_ending =
                head.eq_ignore_ascii_case(ending) && !after.starts_with(char::is_alphanumeric);
            is_ending.then_some(after)
        })
}

fn pairs(run: &str, take: &mut impl FnMut(&str)) {
    let mut starts = run
        .char_indices()
        .map(|(start, _)| start)
        .chain([run.len()]);
    let mut first = starts.next().unwrap_or_default();
    let mut middle = starts.next().unwrap_or_default();
    let mut is_alone = true;
    for end in starts {
        take(&run[first..end]);
        (first, middle) = (middle, end);
        is_alone = false;
    }
    if is_alone {
        take(&run[first..middle]);
    }
}

fn parts(run: &str, take: &mut impl FnMut(&str)) {
    let mut whole = String::with_capacity(run.len());
    let mut part = 0;
    let mut previous = ' ';
    let mut characters = run.chars().peekable();
    while let Some(character) = characters.next() {
        let is_next_small = characters.peek().is_some_and(|next| next.is_lowercase());
        let is_after_small = previous.is_lowercase() || previous.is_numeric();
        let begins = character.is_uppercase()
            && (is_after_small || previous.is_uppercase() && is_next_small);
        if begins && whole.len() > part {
            take(&whole[part..]);
            part = whole.len();
        }
        fold(character, &mut whole);
        previous = character;
    }
    take(&whole[part..]);
    if part > 0 {
        take(&whole);
    }
}

/// Adds a character as it is compared: small, without accents, and of its usual width.
fn fold(character: char, word: &mut String) {
    if character.is_ascii() {
        word.push(character.to_ascii_lowercase());
        return;
    }
    for small in character.to_lowercase() {
        match small {
            'ß' => word.push_str("ss"),
            'æ' => word.push_str("ae"),
            'œ' => word.push_str("oe"),
            'þ' => word.push_str("th"),
            'ς' => word.push('σ'),
            '\u{ff10}'..='\u{ff19}' | '\u{ff41}'..='\u{ff5a}' => {
                word.extend(char::from_u32(u32::from(small) - 0xfee0));
            }
            _ if is_mark(small) => {}
            _ => word.push(base(small)),
        }
    }
}

/// A letter without its accent.
fn base(letter: char) -> char {
    let plain = LATIN.iter().find_map(|(first, letters)| {
        let offset = u32::from(letter).checked_sub(u32::from(*first))?;
        letters.as_bytes().get(offset as usize)
    });
    match plain {
        Some(b'-') | None => letter,
        Some(plain) => char::from(*plain),
    }
}

/// An accent that stands by itself.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// A sign of a script that is written without gaps.
fn is_dense(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(text, |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn words_end_at_signs_and_where_a_capital_begins_one() {
        assert_eq!(
            words_of("git_log --oneLine"),
            ["git", "log", "one", "line", "oneline"]
        );
        assert_eq!(
            words_of("parseHTTPResponse2"),
            ["parse", "http", "response2", "parsehttpresponse2"]
        );
        assert_eq!(
            words_of("Don't, file's rock'n"),
            ["don", "file", "rock", "n"]
        );
        assert_eq!(words_of(" -- "), [""; 0]);
    }

    #[test]
    fn a_name_is_the_same_however_its_words_are_joined() {
        for name in ["git_commit", "Git commit", " git-commit. "] {
            assert_eq!(key(name), "git_commit");
        }
        assert_eq!(key(" [ "), "[");
        assert_eq!(key("AI2sql"), "ai2sql");
    }

    #[test]
    fn accents_and_width_make_no_difference() {
        assert_eq!(
            words_of("Größe café cafe\u{301} ＧＩＴ Łódź"),
            ["grosse", "cafe", "cafe", "git", "lodz"]
        );
        assert_eq!(
            words_of("İstanbul ΟΔΟΣ οδος Ệ"),
            ["istanbul", "οδοσ", "οδοσ", "e"]
        );
    }

    #[test]
    fn scripts_without_gaps_are_cut_into_pairs() {
        assert_eq!(words_of("搜索引擎"), ["搜索", "索引", "引擎"]);
        assert_eq!(words_of("用git搜"), ["用", "git", "搜"]);
    }

    #[test]
    fn terms_are_stems_of_words_that_tell_something() {
        let tokeniser = Tokeniser::default();
        let term = |word| tokeniser.term(word).map(Cow::into_owned);
        assert_eq!(term("committed").as_deref(), Some("commit"));
        assert_eq!(term("how"), None);
    }
}
