//! Messages about configs: what is wrong, where, and what to do. And how they are drawn.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::code::Code;
use crate::source::Source;

/// A place in a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which source, by number.
    pub source: usize,
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Whether a message stops the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

/// One message.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What it is about; this decides whether it stops the build.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where, unless it is about no file's text.
    pub span: Option<Span>,
    /// A second place that is involved, and what it is.
    pub related: Option<(Span, &'static str)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A message about a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            span: Some(span),
            ..Self::general(code, message)
        }
    }

    /// A message that is about no file's text.
    pub fn general(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span: None,
            related: None,
            help: None,
        }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Shows a second place.
    #[must_use]
    pub fn related(mut self, span: Span, label: &'static str) -> Self {
        self.related = Some((span, label));
        self
    }
}

/// Draws messages with their source lines.
#[must_use]
pub fn render(diagnostics: &[Diagnostic], sources: &[Source]) -> String {
    let renderer = Renderer::plain();
    let mut text = String::new();
    for diagnostic in diagnostics {
        let level = match diagnostic.code.severity() {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level
            .primary_title(diagnostic.message.as_str())
            .id(diagnostic.code.id());
        let mut group = Group::with_title(title);
        if let Some(span) = diagnostic.span {
            let mut snippet = snippet(sources, span)
                .annotation(AnnotationKind::Primary.span(visible(sources, span)));
            match diagnostic.related {
                Some((other, label)) if other.source == span.source => {
                    snippet = snippet.annotation(
                        AnnotationKind::Context
                            .span(visible(sources, other))
                            .label(label),
                    );
                    group = group.element(snippet);
                }
                Some((other, label)) => {
                    group = group.element(snippet).element(
                        self::snippet(sources, other).annotation(
                            AnnotationKind::Context
                                .span(visible(sources, other))
                                .label(label),
                        ),
                    );
                }
                None => group = group.element(snippet),
            }
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let _ = writeln!(text, "{}\n", renderer.render(&[group]));
    }
    text
}

/// The line and column of a place, counted from 1.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

fn snippet<T: Clone>(sources: &[Source], span: Span) -> Snippet<'_, T> {
    let source = &sources[span.source];
    Snippet::source(source.text.as_str()).path(source.path.as_str())
}

/// A collection has a place but no extent: show at least one character.
fn visible(sources: &[Source], span: Span) -> Range<usize> {
    let text = &sources[span.source].text;
    if span.start < span.end {
        return span.start..span.end;
    }
    let width = text[span.start..].chars().next().map_or(0, char::len_utf8);
    span.start..span.start + width
}
