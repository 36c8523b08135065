//! Limits against an oracle: 100,000 random values, each judged by what is baked, by what is made at
//! run time, and by a few lines that cannot be wrong.

use std::collections::BTreeSet;

use climax_core::scalar::Number;
use climax_policy::limit::{Bounds, Limit};
use climax_policy::pattern::Pattern;

const PATTERNS: usize = 1_000;
const VALUES_OF_EACH: usize = 50;
const NUMBERS: usize = 50_000;

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % limit
    }
}

/// A pattern as a tree.
enum Tree {
    One(char),
    Any,
    Class(bool, Vec<char>),
    Sequence(Vec<Tree>),
    Either(Vec<Tree>),
    Repeated(Box<Tree>, usize, Option<usize>),
}

const SIGNS: [char; 6] = ['a', 'b', '-', '.', 'é', '\n'];

impl Tree {
    fn random(random: &mut Random, depth: usize) -> Self {
        let sign = |random: &mut Random| SIGNS[random.below(SIGNS.len())];
        let part = |random: &mut Random| Self::random(random, depth - 1);
        match random.below(if depth == 0 { 4 } else { 8 }) {
            0 | 1 => Self::One(sign(random)),
            2 => Self::Any,
            3 => {
                let count = 1 + random.below(3);
                let signs = (0..count).map(|_| sign(random)).collect();
                Self::Class(random.below(2) == 0, signs)
            }
            4 | 5 => {
                let count = random.below(4);
                Self::Sequence((0..count).map(|_| part(random)).collect())
            }
            6 => {
                let count = 1 + random.below(3);
                Self::Either((0..count).map(|_| part(random)).collect())
            }
            _ => {
                let least = random.below(3);
                let most = (random.below(2) == 0).then(|| least + random.below(3));
                Self::Repeated(Box::new(part(random)), least, most)
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::One('.') => "\\.".to_owned(),
            Self::One(sign) => sign.to_string(),
            Self::Any => ".".to_owned(),
            Self::Class(is_negated, signs) => {
                let mark = if *is_negated { "^" } else { "" };
                let sign = |sign: &char| match sign {
                    'a' | 'b' | 'é' => vec![*sign],
                    '\n' => vec!['\\', 'n'],
                    _ => vec!['\\', *sign],
                };
                let signs: String = signs.iter().flat_map(sign).collect();
                format!("[{mark}{signs}]")
            }
            Self::Sequence(parts) => parts.iter().map(Self::text).collect(),
            Self::Either(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::text).collect();
                format!("({})", parts.join("|"))
            }
            Self::Repeated(part, least, most) => {
                let most = most.map_or(String::new(), |most| most.to_string());
                format!("(?:{}){{{least},{most}}}", part.text())
            }
        }
    }

    /// Where a match that begins at one of these places can end.
    fn ends(&self, value: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        let step = |is_it: &dyn Fn(char) -> bool| {
            let is_it = |start: &&usize| value.get(**start).is_some_and(|sign| is_it(*sign));
            starts.iter().filter(is_it).map(|start| start + 1).collect()
        };
        match self {
            Self::One(sign) => step(&|it| it == *sign),
            Self::Any => step(&|it| it != '\n'),
            Self::Class(is_negated, signs) => step(&|it| signs.contains(&it) != *is_negated),
            Self::Sequence(parts) => parts
                .iter()
                .fold(starts.clone(), |places, part| part.ends(value, &places)),
            Self::Either(parts) => parts
                .iter()
                .flat_map(|part| part.ends(value, starts))
                .collect(),
            Self::Repeated(part, least, most) => {
                let mut places = starts.clone();
                for _ in 0..*least {
                    places = part.ends(value, &places);
                }
                let mut all = places.clone();
                // More rounds than the value has places bring nothing new.
                for _ in 0..most.map_or(value.len() + 1, |most| most - least) {
                    places = part.ends(value, &places);
                    all.extend(&places);
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

fn is_allowed(bounds: Bounds<'_>, text: &str, number: Option<Number>) -> bool {
    let mut errors = Vec::new();
    bounds.check("x", text, number, &mut errors);
    errors.is_empty()
}

#[test]
fn patterns_allow_what_an_oracle_allows() {
    let mut random = Random(88_172_645_463_325_252);
    let (mut matches, mut values) = (0, 0);
    for _ in 0..PATTERNS {
        // An empty pattern is none.
        let (tree, text) = loop {
            let tree = Tree::random(&mut random, 4);
            let text = tree.text();
            if !text.is_empty() {
                break (tree, text);
            }
        };
        let limit = Limit {
            pattern: Some(Pattern::parse(&text).unwrap_or_else(|it| panic!("{text}: {it:?}"))),
            ..Limit::default()
        };
        let automaton = limit
            .pattern
            .as_ref()
            .map(Pattern::bake)
            .unwrap_or_default();
        assert!(!automaton.is_empty(), "{text}");
        let made = limit.bounds();
        let baked = Bounds {
            automaton: automaton.leak(),
            ..made
        };
        for _ in 0..VALUES_OF_EACH {
            let length = random.below(9);
            let value: String = (0..length)
                .map(|_| SIGNS[random.below(SIGNS.len())])
                .collect();
            let expected = tree.is_match(&value);
            assert_eq!(
                is_allowed(baked, &value, None),
                expected,
                "{text:?} {value:?}"
            );
            assert_eq!(
                is_allowed(made, &value, None),
                expected,
                "{text:?} {value:?}"
            );
            matches += usize::from(expected);
            values += 1;
        }
    }
    assert_eq!(values, 50_000);
    // Otherwise it would prove little.
    assert!(matches > PATTERNS * VALUES_OF_EACH / 50, "{matches}");
}

#[test]
fn bounds_allow_what_an_oracle_allows() {
    const LARGE: i64 = 1 << 53;
    /// Exact in eighths.
    fn number(random: &mut Random) -> (Number, i128) {
        let centre = [0, 0, LARGE, -LARGE, i64::MAX - 20, i64::MIN + 20][random.below(6)];
        let offset = i64::try_from(random.below(41)).expect("small") - 20;
        let whole = centre + offset;
        match random.below(3) {
            0 | 1 => (Number::Integer(whole), i128::from(whole) * 8),
            _ => {
                #[expect(clippy::cast_precision_loss, reason = "small, or rounded as meant")]
                let float = if centre == 0 {
                    whole as f64 / 8.0
                } else {
                    whole as f64
                };
                #[expect(clippy::cast_possible_truncation, reason = "it is a whole number")]
                let eighths = (float * 8.0) as i128;
                (Number::Float(float), eighths)
            }
        }
    }
    let mut random = Random(1_181_783_497_276_652_981);
    let mut allowed = 0;
    for _ in 0..NUMBERS {
        let bound = |random: &mut Random| (random.below(4) > 0).then(|| number(random));
        let (min, max) = (bound(&mut random), bound(&mut random));
        let (value, eighths) = number(&mut random);
        let expected =
            min.is_none_or(|(_, min)| eighths >= min) && max.is_none_or(|(_, max)| eighths <= max);
        let limit = Limit {
            pattern: None,
            min: min.map(|(min, _)| min),
            max: max.map(|(max, _)| max),
        };
        let text = value.to_string();
        let found = is_allowed(limit.bounds(), &text, Some(value));
        assert_eq!(found, expected, "{text} in {limit:?}");
        allowed += usize::from(expected);
    }
    assert!(allowed > NUMBERS / 10, "{allowed}");
}
