//! Messages -> text, with the lines that they are about and marks under the places.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use crate::diagnostic::{Diagnostic, Severity, Span, line_and_column};
use crate::source::Source;

/// How many columns of a line are shown.
const WIDEST: usize = 140;

/// How many columns of a line that is wider are shown before a place.
const BEFORE: usize = 60;

/// Draws messages with their source lines.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], sources: &[Source]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        draw(diagnostic, sources, &mut text);
        text.push('\n');
    }
    text
}

fn draw(diagnostic: &Diagnostic, sources: &[Source], text: &mut String) {
    let level = match diagnostic.code.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let title = format!("{level}[{}]: ", diagnostic.code.id());
    let message = aligned(&diagnostic.message, title.len());
    let _ = writeln!(text, "{title}{message}");

    let primary = diagnostic
        .span
        .map(|span| Place::new(sources, span, '^', ""));
    let related = diagnostic.related;
    let related = related.map(|(span, label)| Place::new(sources, span, '-', label));
    let places = [&primary, &related].into_iter().flatten();
    let widest = places.map(|place| place.line.to_string().len()).max();
    // Where no line is shown, the help stands as if there were one.
    let margin = " ".repeat(widest.unwrap_or(1));
    if let Some(place) = &primary {
        let _ = writeln!(text, "{margin}--> {}", place.location());
        match &related {
            Some(other) if other.source == place.source => {
                draw_lines(&[place, other], &margin, text);
            }
            Some(other) => {
                draw_lines(&[place], &margin, text);
                let _ = writeln!(text, "{margin} |\n{margin}::: {}", other.location());
                draw_lines(&[other], &margin, text);
            }
            None => draw_lines(&[place], &margin, text),
        }
    }
    if let Some(help) = &diagnostic.help {
        let title = "= help: ";
        let help = aligned(help, margin.len() + 1 + title.len());
        let _ = writeln!(text, "{margin} |\n{margin} {title}{help}");
    }
}

/// The lines of some places of a source, with a mark for each.
fn draw_lines(places: &[&Place<'_>], margin: &str, text: &mut String) {
    let _ = writeln!(text, "{margin} |");
    let mut places = places.to_vec();
    places.sort_by_key(|place| (place.line, place.column));
    let mut last: Option<&Place<'_>> = None;
    for place in places {
        let same_line = last.filter(|last| last.line == place.line && last.shown == place.shown);
        if same_line.is_none() {
            if last.is_some_and(|last| place.line > last.line + 1) {
                text.push_str("...\n");
            }
            let width = margin.len();
            let line = format!("{:>width$} | {}", place.line, place.shown);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let marks = place.sign.to_string().repeat(place.width);
        let line = match same_line {
            // Beside the marks before, if nothing is said about these.
            Some(last) if last.label.is_empty() => {
                text.pop();
                let gap = place.before.saturating_sub(last.before + last.width);
                format!("{:gap$}{marks} {}", "", place.label)
            }
            _ => {
                let before = place.before;
                format!("{margin} | {:before$}{marks} {}", "", place.label)
            }
        };
        let _ = writeln!(text, "{}", line.trim_end());
        last = Some(place);
    }
}

/// Further lines begin where the first does.
fn aligned(message: &str, column: usize) -> String {
    message.replace('\n', &format!("\n{:column$}", ""))
}

/// A place, as it is drawn.
struct Place<'a> {
    source: usize,
    path: &'a str,
    line: usize,
    column: usize,
    /// What is shown of its line.
    shown: String,
    /// How many columns are before it in that, and how many it has.
    before: usize,
    width: usize,
    sign: char,
    label: &'static str,
}

impl<'a> Place<'a> {
    fn new(sources: &'a [Source], span: Span, sign: char, label: &'static str) -> Self {
        let Source { path, text, .. } = &sources[span.source];
        let (line, column) = line_and_column(text, span.start);
        let line_start = text[..span.start]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        let line_end = text[span.start..]
            .find('\n')
            .map_or(text.len(), |newline| span.start + newline);
        let before = printable(&text[line_start..span.start]);
        // What has no extent, or goes on in the next line, is marked by what is there.
        let marked = printable(&text[span.start..span.end.clamp(span.start, line_end)]);
        let after = printable(text[span.start..line_end].trim_end_matches('\r'));
        let is_wide = before.width() + after.width() > WIDEST;
        let before = if is_wide && before.width() > BEFORE {
            format!("...{}", last_columns(&before, BEFORE))
        } else {
            before
        };
        let room = WIDEST - before.width().min(WIDEST);
        let after = if is_wide && after.width() > room {
            format!("{}...", first_columns(&after, room))
        } else {
            after
        };
        Self {
            source: span.source,
            path,
            line,
            column,
            before: before.width(),
            width: marked.width().min(after.width()).max(1),
            shown: before + &after,
            sign,
            label,
        }
    }

    fn location(&self) -> String {
        format!("{}:{}:{}", self.path, self.line, self.column)
    }
}

/// As it can be shown on a terminal, a column a character.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => printable.push_str("    "),
            other if other.is_control() => printable.push(char::REPLACEMENT_CHARACTER),
            other => printable.push(other),
        }
    }
    printable
}

fn first_columns(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(end, _)| end);
    let end = ends.take_while(|&end| text[..end].width() <= columns);
    &text[..end.last().unwrap_or(0)]
}

fn last_columns(text: &str, columns: usize) -> &str {
    let starts = text.char_indices().rev().map(|(start, _)| start);
    let start = starts.take_while(|&start| text[start..].width() <= columns);
    &text[start.last().unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    fn drawn(text: &str, part: &str, related: Option<&str>) -> String {
        let source = Source {
            path: "a.yaml".to_owned(),
            stem: "a".to_owned(),
            file_name: "a.yaml".to_owned(),
            text: text.to_owned(),
            not_text: None,
        };
        let span = |part: &str| {
            let start = text.rfind(part).expect("it is there");
            let end = start + part.len();
            Span {
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
        render(&[diagnostic], &[source])
    }

    /// What stands between the title and the help.
    fn lines(text: &str, part: &str, related: Option<&str>) -> Vec<String> {
        let drawn = drawn(text, part, related);
        let lines: Vec<_> = drawn.lines().map(str::to_owned).collect();
        lines[3..lines.len() - 4].to_vec()
    }

    #[test]
    fn a_message_has_a_title_a_place_a_mark_and_help() {
        assert_eq!(
            drawn("a: 1\nbc: 2\n", "bc", None),
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
    fn a_message_without_a_place_has_no_line() {
        let diagnostic = Diagnostic::general(Code::Unreadable, "wrong").help("do so");
        let drawn = render(&[diagnostic], &[]);
        assert_eq!(drawn, "error[CLX001]: wrong\n  |\n  = help: do so\n\n");
    }

    #[test]
    fn two_places_are_shown_in_the_order_of_their_lines() {
        let text = "a: 1\n".to_owned() + &"b: 2\n".repeat(9) + "c: 3, d: 4\n";
        let expected = [
            " 1 | a: 1",
            "   | - here",
            "...",
            "11 | c: 3, d: 4",
            "   | ^",
        ];
        assert_eq!(lines(&text, "c", Some("a")), expected);
        let expected = ["11 | c: 3, d: 4", "   | - here", "   |       ^"];
        assert_eq!(lines(&text, "d", Some("c")), expected);
        let expected = ["11 | c: 3, d: 4", "   | ^     - here"];
        assert_eq!(lines(&text, "c", Some("d")), expected);
    }

    #[test]
    fn marks_stand_under_wide_characters_tabs_and_ends_of_lines() {
        assert_eq!(
            lines("\t漢字: x\u{1b}\r\n", "x", None),
            ["1 |     漢字: x�", "  |           ^"]
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
    fn of_a_long_line_a_part_is_shown() {
        let text = "x".repeat(1000) + "wrong" + &"y".repeat(1000);
        let [line, marks] = &lines(&text, "wrong", None)[..] else {
            panic!("two lines");
        };
        assert_eq!(
            *line,
            format!("1 | ...{}wrong{}...", "x".repeat(60), "y".repeat(72))
        );
        assert_eq!(*marks, format!("  | {}^^^^^", " ".repeat(63)));
        let [_, marks] = &lines(&text, &text, None)[..] else {
            panic!("two lines");
        };
        assert_eq!(*marks, format!("  | {}", "^".repeat(143)));
    }
}
