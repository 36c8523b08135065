//! Messages about configs: what is wrong, where, and what to do. And how they are drawn.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

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
    /// Whether it stops the build.
    pub severity: Severity,
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
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            related: None,
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(span, message)
        }
    }

    /// An error that is about no file's text.
    pub fn general(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
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
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(diagnostic.message.as_str());
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
