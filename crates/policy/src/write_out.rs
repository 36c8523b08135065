//! Writes out what the pattern library would need tables for, with pointers that each start of the server
//! would have to pay for: without regard to case (`(?i)`), `a` becomes `[aA]`, and `\w`, `\d` and `\s`
//! become the characters that they stand for.

use std::collections::BTreeSet;
use std::mem;

use regex_syntax::ast::{
    Ast, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, ClassSetRange,
    ClassSetUnion, Flag, Flags, FlagsItemKind, GroupKind, Literal, LiteralKind, Span,
};

// `WORD`, `DIGIT` and `SPACE`.
include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// Writes out what the flag `i` means, and takes it away, and what classes mean.
pub(crate) fn write_out(ast: &mut Ast) {
    fold(ast, &mut false);
}

/// `is_on` says whether the flag is set here, and then whether it is set behind.
fn fold(ast: &mut Ast, is_on: &mut bool) {
    match ast {
        Ast::Flags(set) => {
            take_flag(&mut set.flags, is_on);
            if set.flags.items.is_empty() {
                *ast = Ast::empty(set.span);
            }
        }
        Ast::Literal(literal) if *is_on => {
            let others = others(literal.c);
            if !others.is_empty() {
                let span = literal.span;
                let mut items = vec![ClassSetItem::Literal(Literal::clone(literal))];
                items.extend(others.into_iter().map(|other| item(other, span)));
                *ast = Ast::class_bracketed(ClassBracketed {
                    span,
                    negated: false,
                    kind: ClassSet::union(ClassSetUnion { span, items }),
                });
            }
        }
        Ast::ClassPerl(class) => *ast = Ast::class_bracketed(written_out(class)),
        Ast::ClassBracketed(class) => fold_set(&mut class.kind, *is_on),
        Ast::Repetition(repetition) => fold(&mut repetition.ast, is_on),
        Ast::Group(group) => {
            let mut is_on_within = *is_on;
            if let GroupKind::NonCapturing(flags) = &mut group.kind {
                take_flag(flags, &mut is_on_within);
            }
            fold(&mut group.ast, &mut is_on_within);
        }
        Ast::Alternation(parts) => parts.asts.iter_mut().for_each(|part| fold(part, is_on)),
        Ast::Concat(parts) => parts.asts.iter_mut().for_each(|part| fold(part, is_on)),
        // The rest has no letters of its own.
        _ => {}
    }
}

fn take_flag(flags: &mut Flags, is_on: &mut bool) {
    *is_on = flags.flag_state(Flag::CaseInsensitive).unwrap_or(*is_on);
    let is_it = |kind: &FlagsItemKind| *kind == FlagsItemKind::Flag(Flag::CaseInsensitive);
    flags.items.retain(|item| !is_it(&item.kind));
    // A sign that nothing follows means nothing.
    if flags
        .items
        .last()
        .is_some_and(|item| item.kind == FlagsItemKind::Negation)
    {
        flags.items.pop();
    }
}

fn fold_set(set: &mut ClassSet, is_on: bool) {
    match set {
        ClassSet::Item(item) => fold_item(item, is_on),
        ClassSet::BinaryOp(operation) => {
            fold_set(&mut operation.lhs, is_on);
            fold_set(&mut operation.rhs, is_on);
        }
    }
}

fn fold_item(set: &mut ClassSetItem, is_on: bool) {
    let added: BTreeSet<char> = match set {
        ClassSetItem::Literal(literal) if is_on => others(literal.c),
        ClassSetItem::Range(range) if is_on => {
            (range.start.c..=range.end.c).flat_map(others).collect()
        }
        ClassSetItem::Bracketed(class) => return fold_set(&mut class.kind, is_on),
        ClassSetItem::Union(union) => {
            return union.items.iter_mut().for_each(|it| fold_item(it, is_on));
        }
        ClassSetItem::Perl(class) => {
            *set = ClassSetItem::Bracketed(Box::new(written_out(class)));
            return;
        }
        // Whole classes have both cases.
        _ => return,
    };
    if !added.is_empty() {
        let span = *set.span();
        let mut items = vec![mem::replace(set, ClassSetItem::Empty(span))];
        items.extend(added.into_iter().map(|other| item(other, span)));
        *set = ClassSetItem::Union(ClassSetUnion { span, items });
    }
}

fn written_out(class: &ClassPerl) -> ClassBracketed {
    let span = class.span;
    let rows = match class.kind {
        ClassPerlKind::Word => WORD,
        ClassPerlKind::Digit => DIGIT,
        ClassPerlKind::Space => SPACE,
    };
    let range = |&(first, last): &(char, char)| {
        let [start, end] = [first, last].map(|c| literal(c, span));
        ClassSetItem::Range(ClassSetRange { span, start, end })
    };
    let items = rows.iter().map(range).collect();
    ClassBracketed {
        span,
        negated: class.negated,
        kind: ClassSet::union(ClassSetUnion { span, items }),
    }
}

fn item(c: char, span: Span) -> ClassSetItem {
    ClassSetItem::Literal(literal(c, span))
}

fn literal(c: char, span: Span) -> Literal {
    let kind = LiteralKind::Verbatim;
    Literal { span, kind, c }
}

/// Letters that a usual one does not become by itself, but that become it; and those that Python takes
/// for it.
const VARIANTS: [(char, char); 29] = [
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

/// The same letter in other cases.
fn others(letter: char) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    let mut next = vec![letter];
    while let Some(one) = next.pop() {
        if found.insert(one) {
            next.extend(alone(one.to_lowercase()));
            next.extend(alone(one.to_uppercase()));
            for (variant, letter) in VARIANTS {
                if one == variant {
                    next.push(letter);
                } else if one == letter {
                    next.push(variant);
                }
            }
        }
    }
    found.remove(&letter);
    found
}

/// A letter that becomes several ones is none.
fn alone(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}

#[cfg(test)]
mod tests {
    use crate::pattern::{Pattern, is_match};

    #[test]
    fn classes_have_characters_of_all_scripts_and_words_no_marks() {
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
            assert!(is_match(pattern, &[], allowed), "{pattern} {allowed}");
            assert!(!is_match(pattern, &[], refused), "{pattern} {refused}");
        }
    }

    #[test]
    fn case_does_not_count_where_the_flag_says_so() {
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
            assert!(is_match(pattern, &[], allowed), "{pattern} {allowed}");
            assert!(!is_match(pattern, &[], refused), "{pattern} {refused}");
        }
    }
}
