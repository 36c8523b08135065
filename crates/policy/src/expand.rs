//! Expands case-insensitive letters (`a` to `[aA]` under `(?i)`) and the classes `\w`, `\d` and `\s` to
//! explicit character ranges.
//!
//! The regex engine could do this too, but its Unicode tables contain pointers, which the loader relocates at
//! each start of the server.

use std::collections::BTreeSet;
use std::mem;

use regex_syntax::ast::{
    Ast, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, ClassSetRange,
    ClassSetUnion, Flag, Flags, FlagsItemKind, GroupKind, Literal, LiteralKind, Span,
};

// `WORD`, `DIGIT` and `SPACE`.
include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// Removes the flag `i` by expanding letters, and replaces `\w`, `\d` and `\s` by ranges.
pub(crate) fn expand_case_and_classes(ast: &mut Ast) {
    expand(ast, &mut false);
}

/// `ignores_case` is the state of the flag `i` before `ast`, and is updated to the state after it.
fn expand(ast: &mut Ast, ignores_case: &mut bool) {
    match ast {
        Ast::Flags(set) => {
            remove_case_flag(&mut set.flags, ignores_case);
            if set.flags.items.is_empty() {
                *ast = Ast::empty(set.span);
            }
        }
        Ast::Literal(literal) if *ignores_case => {
            let variants = case_variants(literal.c);
            if !variants.is_empty() {
                let span = literal.span;
                let mut items = vec![ClassSetItem::Literal(Literal::clone(literal))];
                items.extend(
                    variants
                        .into_iter()
                        .map(|variant| literal_item(variant, span)),
                );
                *ast = Ast::class_bracketed(ClassBracketed {
                    span,
                    negated: false,
                    kind: ClassSet::union(ClassSetUnion { span, items }),
                });
            }
        }
        Ast::ClassPerl(class) => *ast = Ast::class_bracketed(expanded_class(class)),
        Ast::ClassBracketed(class) => expand_set(&mut class.kind, *ignores_case),
        Ast::Repetition(repetition) => expand(&mut repetition.ast, ignores_case),
        Ast::Group(group) => {
            let mut ignores_case_inside = *ignores_case;
            if let GroupKind::NonCapturing(flags) = &mut group.kind {
                remove_case_flag(flags, &mut ignores_case_inside);
            }
            expand(&mut group.ast, &mut ignores_case_inside);
        }
        Ast::Alternation(parts) => parts
            .asts
            .iter_mut()
            .for_each(|part| expand(part, ignores_case)),
        Ast::Concat(parts) => parts
            .asts
            .iter_mut()
            .for_each(|part| expand(part, ignores_case)),
        // No other node contains letters.
        _ => {}
    }
}

/// Removes the flag `i` and updates `ignores_case` accordingly.
fn remove_case_flag(flags: &mut Flags, ignores_case: &mut bool) {
    *ignores_case = flags
        .flag_state(Flag::CaseInsensitive)
        .unwrap_or(*ignores_case);
    let is_case_flag = |kind: &FlagsItemKind| *kind == FlagsItemKind::Flag(Flag::CaseInsensitive);
    flags.items.retain(|item| !is_case_flag(&item.kind));
    // A negation without a flag after it is not valid.
    if flags
        .items
        .last()
        .is_some_and(|item| item.kind == FlagsItemKind::Negation)
    {
        flags.items.pop();
    }
}

fn expand_set(set: &mut ClassSet, ignores_case: bool) {
    match set {
        ClassSet::Item(item) => expand_item(item, ignores_case),
        ClassSet::BinaryOp(operation) => {
            expand_set(&mut operation.lhs, ignores_case);
            expand_set(&mut operation.rhs, ignores_case);
        }
    }
}

fn expand_item(item: &mut ClassSetItem, ignores_case: bool) {
    let added: BTreeSet<char> = match item {
        ClassSetItem::Literal(literal) if ignores_case => case_variants(literal.c),
        ClassSetItem::Range(range) if ignores_case => (range.start.c..=range.end.c)
            .flat_map(case_variants)
            .collect(),
        ClassSetItem::Bracketed(class) => return expand_set(&mut class.kind, ignores_case),
        ClassSetItem::Union(union) => {
            return union
                .items
                .iter_mut()
                .for_each(|item| expand_item(item, ignores_case));
        }
        ClassSetItem::Perl(class) => {
            *item = ClassSetItem::Bracketed(Box::new(expanded_class(class)));
            return;
        }
        // Named classes contain both cases.
        _ => return,
    };
    if !added.is_empty() {
        let span = *item.span();
        let mut items = vec![mem::replace(item, ClassSetItem::Empty(span))];
        items.extend(added.into_iter().map(|variant| literal_item(variant, span)));
        *item = ClassSetItem::Union(ClassSetUnion { span, items });
    }
}

fn expanded_class(class: &ClassPerl) -> ClassBracketed {
    let span = class.span;
    let ranges = match class.kind {
        ClassPerlKind::Word => WORD,
        ClassPerlKind::Digit => DIGIT,
        ClassPerlKind::Space => SPACE,
    };
    let range = |&(first, last): &(char, char)| {
        let [start, end] = [first, last].map(|c| literal(c, span));
        ClassSetItem::Range(ClassSetRange { span, start, end })
    };
    let items = ranges.iter().map(range).collect();
    ClassBracketed {
        span,
        negated: class.negated,
        kind: ClassSet::union(ClassSetUnion { span, items }),
    }
}

fn literal_item(c: char, span: Span) -> ClassSetItem {
    ClassSetItem::Literal(literal(c, span))
}

fn literal(c: char, span: Span) -> Literal {
    let kind = LiteralKind::Verbatim;
    Literal { span, kind, c }
}

/// Pairs of a variant and its letter that Rust's case mappings do not connect in both directions. Some are case
/// variants only in Python.
const EXTRA_VARIANTS: [(char, char); 29] = [
    ('\u{130}', 'i'),
    ('\u{131}', 'i'),
    ('\u{17f}', 's'),
    ('\u{212a}', 'k'),
    ('\u{212b}', 'å'),
    ('\u{1e9e}', 'ß'),
    ('\u{1e9b}', 'ṡ'),
    ('\u{b5}', 'μ'),
    ('\u{345}', 'ι'),
    ('\u{1fbe}', 'ι'),
    ('\u{3c2}', 'σ'),
    ('\u{3d0}', 'β'),
    ('\u{3d1}', 'θ'),
    ('\u{3f4}', 'θ'),
    ('\u{3d5}', 'φ'),
    ('\u{3d6}', 'π'),
    ('\u{3f0}', 'κ'),
    ('\u{3f1}', 'ρ'),
    ('\u{3f5}', 'ε'),
    ('\u{2126}', 'ω'),
    ('\u{1c80}', 'в'),
    ('\u{1c81}', 'д'),
    ('\u{1c82}', 'о'),
    ('\u{1c83}', 'с'),
    ('\u{1c84}', 'т'),
    ('\u{1c85}', 'т'),
    ('\u{1c86}', 'ъ'),
    ('\u{1c87}', 'ѣ'),
    ('\u{1c88}', 'ꙋ'),
];

/// The other case variants of a letter.
fn case_variants(letter: char) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    let mut pending = vec![letter];
    while let Some(character) = pending.pop() {
        if found.insert(character) {
            pending.extend(single(character.to_lowercase()));
            pending.extend(single(character.to_uppercase()));
            for (variant, base) in EXTRA_VARIANTS {
                if character == variant {
                    pending.push(base);
                } else if character == base {
                    pending.push(variant);
                }
            }
        }
    }
    found.remove(&letter);
    found
}

/// The character, if there is exactly one. Case mappings to several characters are ignored.
fn single(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

#[cfg(test)]
mod tests {
    use crate::pattern::{Pattern, is_match};

    #[test]
    fn classes_cover_all_scripts_and_word_characters_exclude_marks() {
        for (pattern, allowed, refused) in [
            (r"\d+", "09٣६", "²"),
            (r"[^\d]", "Ⅷ", "6"),
            (r"\s+", " \t\n\u{a0}\u{2003}\u{1c}", "\u{200b}"),
            (r"[\S,]+", "a,", "a b"),
            (r"\bé\b.*", "é-x", "éa"),
            (r"\w+", "aZ09_éßжक٣Ⅷ²漢", "e\u{301}"),
            (r"[\w.]+", "a.é", "a-é"),
            (r"[^\w.]", "-", "é"),
            (r"\W", "\u{301}", "é"),
            (r"[\W_]+", "_-", "a"),
            (r"(?i:\w|-)", "É", "\u{200d}"),
        ] {
            Pattern::parse(pattern).expect(pattern);
            assert!(is_match(pattern, allowed), "{pattern} {allowed}");
            assert!(!is_match(pattern, refused), "{pattern} {refused}");
        }
    }

    #[test]
    fn the_flag_i_ignores_case_in_its_scope() {
        for (pattern, allowed, refused) in [
            ("(?i)select .*", "SeLeCT x", "selec x"),
            ("(?i:a)b", "Ab", "AB"),
            ("a(?i)b|c", "aB", "Ab"),
            ("a(?i)b|c", "C", "AB"),
            ("(?i)a(?-i)b", "Ab", "AB"),
            ("(?i)(?:a(?-i:b)c)", "AbC", "ABC"),
            ("(?i)[a-c]+é", "AbCÉ", "d"),
            ("(?i)[^a-c]", "d", "B"),
            ("(?is)a.", "A\n", "b\n"),
            ("(?i)σ", "ς", "s"),
            ("(?i)k", "\u{212a}", "q"),
            ("(?i)[^k]", "q", "\u{212a}"),
            ("(?i)[^a-z]", "9", "\u{130}"),
        ] {
            Pattern::parse(pattern).expect(pattern);
            assert!(is_match(pattern, allowed), "{pattern} {allowed}");
            assert!(!is_match(pattern, refused), "{pattern} {refused}");
        }
    }
}
