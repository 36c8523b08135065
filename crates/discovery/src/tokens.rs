//! Turns text into words, and words into the terms of the index. Builds and searches share it.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

/// The base letters of `à` to `ſ`, and of `Ḁ` to `ỿ`. `-` stands for a letter without one.
const BASE_LETTERS: [(char, &str); 2] = [
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
pub struct TermStemmer {
    stemmer: Stemmer,
}

impl Default for TermStemmer {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }
}

impl TermStemmer {
    /// The term of a word: its stem. Stop words have none.
    #[must_use]
    pub fn term<'w>(&self, word: &'w str) -> Option<Cow<'w, str>> {
        (!is_stop_word(word)).then(|| self.stem(word))
    }

    /// The stem of a word.
    #[must_use]
    pub fn stem<'w>(&self, word: &'w str) -> Cow<'w, str> {
        self.stemmer.stem(word)
    }
}

/// Whether a word is so common that it says nothing about a tool.
#[must_use]
#[rustfmt::skip]
pub fn is_stop_word(word: &str) -> bool {
    // A single letter is more likely an option than a word.
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

/// Calls `visit` for each word of a text, in folded form. Words are runs of letters and digits. `camelCase`
/// yields its parts and the whole. Chinese, Japanese and Korean text is split into overlapping bigrams, because
/// it has no spaces between words. Contractions such as `'s` and `'t` are dropped. The function is not generic: a copy for
/// each caller would make the server 30 kB larger.
pub fn for_each_word(text: &str, visit: &mut dyn FnMut(&str)) {
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let is_cjk_run = rest.starts_with(is_cjk);
        let continues_run =
            |character: char| is_word_character(character) && is_cjk(character) == is_cjk_run;
        let end = rest
            .find(|character| !continues_run(character))
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        if is_cjk_run {
            for_each_bigram(run, visit);
        } else {
            for_each_camel_case_part(run, visit);
            rest = rest
                .strip_prefix(['\'', '\u{2019}'])
                .and_then(strip_contraction)
                .unwrap_or(rest);
        }
    }
}

/// The form of a name that is compared with queries: runs of letters and digits, folded and joined by `_`. A
/// name without letters and digits is only trimmed and lower-cased.
#[must_use]
pub fn normalised_name(name: &str) -> String {
    let mut normalised = String::with_capacity(name.len());
    for run in name.split(|character| !is_word_character(character)) {
        if !normalised.is_empty() && !run.is_empty() {
            normalised.push('_');
        }
        for character in run.chars() {
            push_folded(character, &mut normalised);
        }
    }
    if normalised.is_empty() {
        name.trim().to_lowercase()
    } else {
        normalised
    }
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character)
}

/// The text after the contraction at its beginning, if there is one.
fn strip_contraction(text: &str) -> Option<&str> {
    ["s", "m", "t", "re", "ve", "ll", "d"]
        .iter()
        .find_map(|contraction| {
            let head = text.get(..contraction.len())?;
            let after = &text[contraction.len()..];
            let is_contraction =
                head.eq_ignore_ascii_case(contraction) && !after.starts_with(char::is_alphanumeric);
            is_contraction.then_some(after)
        })
}

/// Visits every pair of neighbouring characters, or the only character.
fn for_each_bigram(run: &str, visit: &mut dyn FnMut(&str)) {
    let mut starts = run
        .char_indices()
        .map(|(start, _)| start)
        .chain([run.len()]);
    let mut first = starts.next().unwrap_or_default();
    let mut middle = starts.next().unwrap_or_default();
    let mut is_single = true;
    for end in starts {
        visit(&run[first..end]);
        (first, middle) = (middle, end);
        is_single = false;
    }
    if is_single {
        visit(&run[first..middle]);
    }
}

/// Visits the parts of a `camelCase` word, and the whole if there are several.
fn for_each_camel_case_part(run: &str, visit: &mut dyn FnMut(&str)) {
    let mut whole = String::with_capacity(run.len());
    let mut part_start = 0;
    let mut previous = ' ';
    let mut characters = run.chars().peekable();
    while let Some(character) = characters.next() {
        let is_before_lowercase = characters.peek().is_some_and(|next| next.is_lowercase());
        let is_after_lowercase = previous.is_lowercase() || previous.is_numeric();
        let starts_part = character.is_uppercase()
            && (is_after_lowercase || previous.is_uppercase() && is_before_lowercase);
        if starts_part && whole.len() > part_start {
            visit(&whole[part_start..]);
            part_start = whole.len();
        }
        push_folded(character, &mut whole);
        previous = character;
    }
    visit(&whole[part_start..]);
    if part_start > 0 {
        visit(&whole);
    }
}

/// Appends a character in folded form: lower case, without accents, full-width forms as ASCII.
fn push_folded(character: char, word: &mut String) {
    if character.is_ascii() {
        word.push(character.to_ascii_lowercase());
        return;
    }
    for lower in character.to_lowercase() {
        match lower {
            'ß' => word.push_str("ss"),
            'æ' => word.push_str("ae"),
            'œ' => word.push_str("oe"),
            'þ' => word.push_str("th"),
            'ς' => word.push('σ'),
            '\u{ff10}'..='\u{ff19}' | '\u{ff41}'..='\u{ff5a}' => {
                word.extend(char::from_u32(u32::from(lower) - 0xfee0));
            }
            _ if is_combining_mark(lower) => {}
            _ => word.push(without_accent(lower)),
        }
    }
}

fn without_accent(letter: char) -> char {
    let base = BASE_LETTERS.iter().find_map(|(first, letters)| {
        let offset = u32::from(letter).checked_sub(u32::from(*first))?;
        letters.as_bytes().get(offset as usize)
    });
    match base {
        Some(b'-') | None => letter,
        Some(base) => char::from(*base),
    }
}

fn is_combining_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// Whether a character is Chinese, Japanese or Korean.
fn is_cjk(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, &mut |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_split_at_punctuation_and_at_camel_case_boundaries() {
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
    fn normalised_names_do_not_depend_on_case_or_separators() {
        for name in ["git_commit", "Git commit", " git-commit. "] {
            assert_eq!(normalised_name(name), "git_commit");
        }
        assert_eq!(normalised_name(" [ "), "[");
        assert_eq!(normalised_name("AI2sql"), "ai2sql");
    }

    #[test]
    fn folding_removes_accents_and_full_width_forms() {
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
    fn chinese_text_is_split_into_bigrams() {
        assert_eq!(words_of("搜索引擎"), ["搜索", "索引", "引擎"]);
        assert_eq!(words_of("用git搜"), ["用", "git", "搜"]);
    }

    #[test]
    fn terms_are_stems_and_stop_words_have_none() {
        let stemmer = TermStemmer::default();
        let term = |word| stemmer.term(word).map(Cow::into_owned);
        assert_eq!(term("committed").as_deref(), Some("commit"));
        assert_eq!(term("how"), None);
    }
}
