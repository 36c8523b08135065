//! Turns diagnostics into text: each with its source lines and a mark under each span.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Severity, SourceSpan, line_and_column};
use crate::source::Source;

/// Longer spans are marked up to this length: the renderer shortens long lines, but never a marked part.
const MAX_MARKED_CHARACTERS: usize = 100;

/// Spans of one file that are more than this many columns apart get separate snippets, because the renderer
/// never shortens a line between two marks.
const MAX_SNIPPET_COLUMNS: usize = 100;

/// Renders diagnostics with their source lines.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], sources: &[Source]) -> String {
    let renderer = Renderer::plain();
    let texts = diagnostics
        .iter()
        .map(|diagnostic| renderer.render(&[group(diagnostic, sources)]) + "\n\n");
    texts.collect()
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a [Source]) -> Group<'a> {
    let level = match diagnostic.code.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(printable(&diagnostic.message));
    let mut group = Group::with_title(title.id(diagnostic.code.id()));
    if let Some(span) = diagnostic.span {
        let primary = Mark::new(sources, span, AnnotationKind::Primary, None);
        let related = diagnostic.related.map(|(span, label)| {
            let label = Some(label);
            Mark::new(sources, span, AnnotationKind::Context, label)
        });
        group = match related {
            Some(related) if primary.fits_in_one_snippet_with(&related) => {
                group.element(snippet(sources, &[primary, related]))
            }
            Some(related) => group
                .element(snippet(sources, &[primary]))
                .element(snippet(sources, &[related])),
            None => group.element(snippet(sources, &[primary])),
        };
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    group
}

/// The source lines of marks that are all in one source.
fn snippet<'a>(sources: &'a [Source], marks: &[Mark]) -> Snippet<'a, Annotation<'a>> {
    let Source { path, text, .. } = &sources[marks[0].source];
    let starts = marks.iter().map(|mark| mark.line_start);
    let start = starts.min().expect("there is a mark");
    let ends = marks.iter().map(|mark| mark.line_end);
    let end = ends.max().expect("there is a mark");
    let offset = |position: usize| printable(&text[start..position]).len();
    let annotations = marks.iter().map(|mark| {
        let span = offset(mark.start)..offset(mark.end);
        mark.kind.span(span).label(mark.label)
    });
    // The renderer drops an empty last line that has no newline.
    Snippet::source(printable(&text[start..end]) + "\n")
        .path(path)
        .line_start(line_and_column(text, start).0)
        .annotations(annotations)
}

/// The part of a line to mark.
struct Mark {
    source: usize,
    start: usize,
    end: usize,
    line_start: usize,
    line_end: usize,
    column: usize,
    kind: AnnotationKind,
    label: Option<&'static str>,
}

impl Mark {
    fn new(
        sources: &[Source],
        span: SourceSpan,
        kind: AnnotationKind,
        label: Option<&'static str>,
    ) -> Self {
        let text = &sources[span.source].text;
        let (before, after) = text.split_at(span.start);
        // Only the first line of a span is marked.
        let rest_of_line = after.split('\n').next().unwrap_or_default();
        let rest = rest_of_line.trim_end_matches('\r');
        let length = span.end.saturating_sub(span.start).min(rest.len());
        let first_unmarked = rest[..length].char_indices().nth(MAX_MARKED_CHARACTERS);
        let length = first_unmarked.map_or(length, |(offset, _)| offset);
        Self {
            source: span.source,
            start: span.start,
            end: span.start + length,
            line_start: before.rfind('\n').map_or(0, |newline| newline + 1),
            line_end: span.start + rest_of_line.len(),
            column: line_and_column(text, span.start).1,
            kind,
            label,
        }
    }

    fn fits_in_one_snippet_with(&self, other: &Self) -> bool {
        self.source == other.source && self.column.abs_diff(other.column) <= MAX_SNIPPET_COLUMNS
    }
}

/// Replaces the C1 control characters, which the renderer passes through: a terminal may interpret one as the
/// start of an escape sequence.
fn printable(text: &str) -> String {
    text.replace(
        |character| matches!(character, '\u{80}'..='\u{9f}'),
        "\u{fffd}",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    fn source(text: &str) -> Source {
        Source {
            path: "a.yaml".to_owned(),
            stem: "a".to_owned(),
            file_name: "a.yaml".to_owned(),
            text: text.to_owned(),
            invalid_utf8_offset: None,
        }
    }

    fn rendered(text: &str, part: &str, related: Option<&str>) -> String {
        let span = |part: &str| {
            let start = text.rfind(part).expect("the part is in the text");
            let end = start + part.len();
            SourceSpan {
                source: 0,
                start,
                end,
            }
        };
        let mut diagnostic =
            Diagnostic::new(Code::UnknownField, span(part), "wrong").help("do\nso");
        if let Some(related) = related {
            diagnostic = diagnostic.related(span(related), "here");
        }
        render(&[diagnostic], &[source(text)])
    }

    /// The lines between the title and the help.
    fn lines(text: &str, part: &str, related: Option<&str>) -> Vec<String> {
        let rendered = rendered(text, part, related);
        let lines: Vec<_> = rendered.lines().map(str::to_owned).collect();
        lines[3..lines.len() - 4].to_vec()
    }

    #[test]
    fn a_diagnostic_has_a_title_a_position_a_mark_and_help() {
        assert_eq!(
            rendered("a: 1\nbc: 2\n", "bc", None),
            "error[CLX011]: wrong
 --> a.yaml:2:1
  |
2 | bc: 2
  | ^^
  |
  = help: do
          so

"
        );
    }

    #[test]
    fn a_diagnostic_without_a_position_has_no_source_line() {
        let diagnostic = Diagnostic::general(Code::Unreadable, "wrong").help("do so");
        let rendered = render(&[diagnostic], &[]);
        assert_eq!(rendered, "error[CLX001]: wrong\n |\n = help: do so\n\n");
    }

    #[test]
    fn two_positions_are_shown_in_line_order() {
        let text = "a: 1\n".to_owned() + &"b: 2\n".repeat(9) + "c: 3, d: 4\n";
        let expected = [
            " 1 | a: 1",
            "   | - here",
            "...",
            "11 | c: 3, d: 4",
            "   | ^",
        ];
        assert_eq!(lines(&text, "c", Some("a")), expected);
        let expected = ["11 | c: 3, d: 4", "   | -     ^", "   | |", "   | here"];
        assert_eq!(lines(&text, "d", Some("c")), expected);
        let expected = ["11 | c: 3, d: 4", "   | ^     - here"];
        assert_eq!(lines(&text, "c", Some("d")), expected);
    }

    #[test]
    fn marks_are_aligned_despite_tabs_wide_characters_and_control_characters() {
        assert_eq!(
            lines("\t漢字: x\u{1b}\r\n", "x", None),
            ["1 |     漢字: x␛", "  |           ^"]
        );
        assert_eq!(
            lines("\u{9b}31m: x", "x", None),
            ["1 | �31m: x", "  |       ^"]
        );
        assert_eq!(lines("漢字: x", "漢字", None), ["1 | 漢字: x", "  | ^^^^"]);
        assert_eq!(
            lines("a: \"b\n  c\"", "\"b\n  c\"", None),
            ["1 | a: \"b", "  |    ^^"]
        );
        assert_eq!(lines("a:", "", None), ["1 | a:", "  |   ^"]);
        assert_eq!(lines("", "", None), ["1 |", "  | ^"]);
    }

    #[test]
    fn long_lines_are_shortened_around_the_mark() {
        let text = "x".repeat(1000) + "wrong" + &"y".repeat(1000);
        let [line, marks] = &lines(&text, "wrong", None)[..] else {
            panic!("two lines");
        };
        assert!(line.len() < 150, "{line}");
        assert!(
            line.starts_with("1 | ...x") && line.ends_with("y..."),
            "{line}"
        );
        assert_eq!(marks.find("^^^^^"), line.find("wrong"));
        let [line, marks] = &lines(&text, &text, None)[..] else {
            panic!("two lines");
        };
        assert!(line.len() < 150, "{line}");
        assert_eq!(*marks, format!("  | {}", "^".repeat(100)));
    }

    #[test]
    fn distant_spans_of_a_long_line_get_separate_snippets() {
        let text = "first".to_owned() + &"x".repeat(1000) + "last";
        let lines = lines(&text, "last", Some("first"));
        let [line, marks, _, position, _, other_line, other_marks] = &lines[..] else {
            panic!("{lines:?}");
        };
        assert!(line.len() < 150 && other_line.len() < 150, "{lines:?}");
        assert_eq!(marks.find("^^^^"), line.find("last"));
        assert_eq!(position, " ::: a.yaml:1:1");
        assert_eq!(other_marks.find("----- here"), other_line.find("first"));
    }

    #[test]
    fn every_span_is_rendered_with_its_line_and_column() {
        for text in [
            "",
            "\n",
            "a\n",
            "\r",
            "\ta\u{1b}漢\u{9b}\r\n\n\u{200d}é\rx",
            "漢\r\n\r\n",
        ] {
            let boundaries = (0..=text.len()).filter(|&offset| text.is_char_boundary(offset));
            let boundaries: Vec<usize> = boundaries.collect();
            let spans = boundaries.iter().flat_map(|&start| {
                let ends = boundaries.iter().filter(move |&&end| end >= start);
                ends.map(move |&end| SourceSpan {
                    source: 0,
                    start,
                    end,
                })
            });
            let spans: Vec<SourceSpan> = spans.collect();
            for &span in &spans {
                let (line, column) = line_and_column(text, span.start);
                for &related in &spans {
                    let diagnostic = Diagnostic::new(Code::UnknownField, span, "wrong");
                    let diagnostic = diagnostic.related(related, "here");
                    let rendered = render(&[diagnostic], &[source(text)]);
                    let position = format!("--> a.yaml:{line}:{column}\n");
                    assert!(
                        rendered.contains(&position),
                        "{text:?} {span:?}: {rendered}"
                    );
                    assert!(
                        rendered.contains('^') && rendered.contains("here"),
                        "{rendered}"
                    );
                    let is_unescaped =
                        |character: char| character.is_control() && character != '\n';
                    assert!(!rendered.contains(is_unescaped), "{rendered:?}");
                }
            }
        }
    }
}
