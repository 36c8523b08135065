//! Compares limits with a simple reference implementation on 100,000 random values.

use std::collections::BTreeSet;

use climax_core::scalar::Number;
use climax_policy::limit::{Limit, LimitRef};
use climax_policy::pattern::Pattern;

const PATTERNS: usize = 1_000;
const VALUES_PER_PATTERN: usize = 50;
const NUMBERS: usize = 50_000;

/// A pseudo-random number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % limit
    }
}

/// The syntax tree of a pattern.
enum PatternTree {
    Literal(char),
    Any,
    Class {
        is_negated: bool,
        characters: Vec<char>,
    },
    Sequence(Vec<PatternTree>),
    Alternation(Vec<PatternTree>),
    Repetition(Box<PatternTree>, usize, Option<usize>),
}

const ALPHABET: [char; 6] = ['a', 'b', '-', '.', 'é', '\n'];

impl PatternTree {
    fn random(random: &mut Random, depth: usize) -> Self {
        let character = |random: &mut Random| ALPHABET[random.below(ALPHABET.len())];
        let part = |random: &mut Random| Self::random(random, depth - 1);
        match random.below(if depth == 0 { 4 } else { 8 }) {
            0 | 1 => Self::Literal(character(random)),
            2 => Self::Any,
            3 => {
                let count = 1 + random.below(3);
                let characters = (0..count).map(|_| character(random)).collect();
                Self::Class {
                    is_negated: random.below(2) == 0,
                    characters,
                }
            }
            4 | 5 => {
                let count = random.below(4);
                Self::Sequence((0..count).map(|_| part(random)).collect())
            }
            6 => {
                let count = 1 + random.below(3);
                Self::Alternation((0..count).map(|_| part(random)).collect())
            }
            _ => {
                let min = random.below(3);
                let max = (random.below(2) == 0).then(|| min + random.below(3));
                Self::Repetition(Box::new(part(random)), min, max)
            }
        }
    }

    fn to_pattern(&self) -> String {
        match self {
            Self::Literal('.') => "\\.".to_owned(),
            Self::Literal(character) => character.to_string(),
            Self::Any => ".".to_owned(),
            Self::Class {
                is_negated,
                characters,
            } => {
                let negation = if *is_negated { "^" } else { "" };
                let escape = |character: &char| match character {
                    'a' | 'b' | 'é' => vec![*character],
                    '\n' => vec!['\\', 'n'],
                    _ => vec!['\\', *character],
                };
                let characters: String = characters.iter().flat_map(escape).collect();
                format!("[{negation}{characters}]")
            }
            Self::Sequence(parts) => parts.iter().map(Self::to_pattern).collect(),
            Self::Alternation(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::to_pattern).collect();
                format!("({})", parts.join("|"))
            }
            Self::Repetition(part, min, max) => {
                let max = max.map_or(String::new(), |max| max.to_string());
                format!("(?:{}){{{min},{max}}}", part.to_pattern())
            }
        }
    }

    /// The positions at which a match that begins at one of `starts` can end.
    fn ends(&self, value: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        let step = |matches: &dyn Fn(char) -> bool| {
            let matches_at = |start: &&usize| value.get(**start).is_some_and(|next| matches(*next));
            starts
                .iter()
                .filter(matches_at)
                .map(|start| start + 1)
                .collect()
        };
        match self {
            Self::Literal(character) => step(&|next| next == *character),
            Self::Any => step(&|next| next != '\n'),
            Self::Class {
                is_negated,
                characters,
            } => step(&|next| characters.contains(&next) != *is_negated),
            Self::Sequence(parts) => parts.iter().fold(starts.clone(), |positions, part| {
                part.ends(value, &positions)
            }),
            Self::Alternation(parts) => parts
                .iter()
                .flat_map(|part| part.ends(value, starts))
                .collect(),
            Self::Repetition(part, min, max) => {
                let mut positions = starts.clone();
                for _ in 0..*min {
                    positions = part.ends(value, &positions);
                }
                let mut all = positions.clone();
                // A value of n characters has n + 1 positions, so further rounds find no new ones.
                for _ in 0..max.map_or(value.len() + 1, |max| max - min) {
                    positions = part.ends(value, &positions);
                    all.extend(&positions);
                }
                all
            }
        }
    }

    fn is_match(&self, value: &str) -> bool {
        let value: Vec<char> = value.chars().collect();
        self.ends(&value, &BTreeSet::from([0]))
            .contains(&value.len())
    }
}

fn is_allowed(limit_ref: LimitRef<'_>, text: &str, number: Option<Number>) -> bool {
    let mut errors = Vec::new();
    limit_ref.check("x", text, number, &mut errors);
    errors.is_empty()
}

#[test]
fn patterns_allow_what_the_reference_allows() {
    let mut random = Random(88_172_645_463_325_252);
    let (mut matches, mut values) = (0, 0);
    for _ in 0..PATTERNS {
        // An empty pattern would mean that there is no pattern limit.
        let (tree, text) = loop {
            let tree = PatternTree::random(&mut random, 4);
            let text = tree.to_pattern();
            if !text.is_empty() {
                break (tree, text);
            }
        };
        let limit = Limit {
            pattern: Some(
                Pattern::parse(&text).unwrap_or_else(|problem| panic!("{text}: {problem:?}")),
            ),
            ..Limit::default()
        };
        for _ in 0..VALUES_PER_PATTERN {
            let length = random.below(9);
            let value: String = (0..length)
                .map(|_| ALPHABET[random.below(ALPHABET.len())])
                .collect();
            let expected = tree.is_match(&value);
            assert_eq!(
                is_allowed(limit.borrowed(), &value, None),
                expected,
                "{text:?} {value:?}"
            );
            matches += usize::from(expected);
            values += 1;
        }
    }
    assert_eq!(values, 50_000);
    // With too few matches, the test would prove little.
    assert!(matches > PATTERNS * VALUES_PER_PATTERN / 50, "{matches}");
}

#[test]
fn bounds_allow_what_the_reference_allows() {
    /// Beyond this, `f64` cannot represent every integer.
    const LARGE: i64 = 1 << 53;
    /// A random number, and its exact value multiplied by 8.
    fn random_number(random: &mut Random) -> (Number, i128) {
        let centre = [0, 0, LARGE, -LARGE, i64::MAX - 20, i64::MIN + 20][random.below(6)];
        let offset = i64::try_from(random.below(41)).expect("small") - 20;
        let whole = centre + offset;
        match random.below(3) {
            0 | 1 => (Number::Integer(whole), i128::from(whole) * 8),
            _ => {
                #[expect(clippy::cast_precision_loss, reason = "small, or deliberately rounded")]
                let float = if centre == 0 {
                    whole as f64 / 8.0
                } else {
                    whole as f64
                };
                #[expect(clippy::cast_possible_truncation, reason = "a whole number")]
                let eighths = (float * 8.0) as i128;
                (Number::Float(float), eighths)
            }
        }
    }
    let mut random = Random(1_181_783_497_276_652_981);
    let mut allowed = 0;
    for _ in 0..NUMBERS {
        let bound = |random: &mut Random| (random.below(4) > 0).then(|| random_number(random));
        let (min, max) = (bound(&mut random), bound(&mut random));
        let (value, eighths) = random_number(&mut random);
        let expected =
            min.is_none_or(|(_, min)| eighths >= min) && max.is_none_or(|(_, max)| eighths <= max);
        let limit = Limit {
            min: min.map(|(min, _)| min),
            max: max.map(|(max, _)| max),
            ..Limit::default()
        };
        let text = value.to_string();
        let actual = is_allowed(limit.borrowed(), &text, Some(value));
        assert_eq!(actual, expected, "{text} in {limit:?}");
        allowed += usize::from(expected);
    }
    assert!(allowed > NUMBERS / 10, "{allowed}");
}
