//! Diagnostics about configs and policies: the problem, its position and the fix.

use crate::code::Code;

/// A byte range in a config or policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// The index of the source.
    pub source: usize,
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Whether a diagnostic stops the build or the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Stops it.
    Error,
    /// Does not stop it.
    Warning,
}

/// One error or warning.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The kind of problem; it determines the severity.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// The position; `None` if the problem is not in the text of a file.
    pub span: Option<SourceSpan>,
    /// A second position that is involved, with its label.
    pub related: Option<(SourceSpan, &'static str)>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates a diagnostic with a position.
    pub fn new(code: Code, span: SourceSpan, message: impl Into<String>) -> Self {
        Self {
            span: Some(span),
            ..Self::general(code, message)
        }
    }

    /// Creates a diagnostic without a position.
    pub fn general(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span: None,
            related: None,
            help: None,
        }
    }

    /// Adds how to fix the problem.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a second position.
    #[must_use]
    pub fn related(mut self, span: SourceSpan, label: &'static str) -> Self {
        self.related = Some((span, label));
        self
    }
}

/// Converts a byte offset to line and column, both counted from 1.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
