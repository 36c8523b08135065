//! Messages about configs: what is wrong, where, and what to do.

use crate::code::Code;

/// A place in a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSpan {
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
    pub span: Option<SourceSpan>,
    /// A second place that is involved, and what it is.
    pub related: Option<(SourceSpan, &'static str)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A message about a place.
    pub fn new(code: Code, span: SourceSpan, message: impl Into<String>) -> Self {
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
    pub fn related(mut self, span: SourceSpan, label: &'static str) -> Self {
        self.related = Some((span, label));
        self
    }
}

/// The line and column of a place, counted from 1.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
