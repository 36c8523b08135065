//! Parses the arguments of `climax_output`.

use bumpalo::Bump;
use climax_runner::OutputId;

use crate::call::CallRequest;
use crate::call::argument_names::{
    ArgumentName, resolve_names, unknown_argument, unknown_parameter,
};
use climax_arguments::reader::{ArgumentLimits, ArgumentReader, CallRefusal};

const ARGUMENT_NAMES: [&str; 6] = ["id", "from_line", "lines", "from_byte", "bytes", "pattern"];

const MAX_PATTERN_BYTES: usize = 4096;

/// What to read of which output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutputRequest {
    /// The id as given.
    pub(super) id: String,
    pub(super) range: OutputRange,
}

/// What to read. Without a count, as much as fits.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OutputRange {
    /// Lines. The first line of an output is number 1.
    Lines { from: u64, count: Option<u64> },
    /// Bytes. The first byte of an output is number 0.
    Bytes { from: u64, count: Option<u64> },
    /// The lines that match a regular expression.
    Matches {
        pattern: String,
        from_line: u64,
        count: Option<u64>,
    },
}

impl OutputRequest {
    /// The id, if it is well-formed.
    pub(super) fn id(&self) -> Option<OutputId> {
        OutputId::parse(self.id.trim())
    }
}

/// Parses the arguments. They are coerced, and their names resolved, like those of other tools.
///
/// # Errors
/// Everything that is wrong with them.
pub(super) fn parse(call: &CallRequest) -> Result<OutputRequest, CallRefusal> {
    let names = ARGUMENT_NAMES.map(ArgumentName::text);
    let resolved = resolve_names(&call.arguments, &names);
    let arena = Bump::new();
    let mut reader = ArgumentReader::new(&resolved.arguments, &arena, ArgumentLimits::default());
    let mut errors = resolved.errors;
    let mut number = |reader: &mut ArgumentReader<'_>, name: &'static str, minimum: u64| {
        let integer: i64 = reader.optional(name)?;
        let number = u64::try_from(integer).ok();
        if number.is_none_or(|number| number < minimum) {
            errors.push(format!("Argument '{name}' must be at least {minimum}"));
        }
        number
    };
    let id: &str = reader.required("id");
    let from_line = number(&mut reader, "from_line", 1);
    let lines = number(&mut reader, "lines", 1);
    let from_byte = number(&mut reader, "from_byte", 0);
    let bytes = number(&mut reader, "bytes", 1);
    let pattern: Option<&str> = reader.optional("pattern");
    let has_bytes = from_byte.is_some() || bytes.is_some();
    if has_bytes && (from_line.is_some() || lines.is_some() || pattern.is_some()) {
        errors.push(
            "Arguments 'from_byte' and 'bytes' cannot be combined with 'from_line', 'lines' or 'pattern'"
                .to_owned(),
        );
    }
    if pattern.is_some_and(|pattern| pattern.len() > MAX_PATTERN_BYTES) {
        errors.push(format!(
            "Argument 'pattern' must have at most {MAX_PATTERN_BYTES} bytes"
        ));
    }
    let unknown = resolved.unknown.iter();
    errors.extend(unknown.map(|(key, value)| unknown_argument(key, value, &names, &names)));
    let parameters = call.unknown_parameters.iter();
    errors.extend(parameters.map(|(key, value)| unknown_parameter(key, value, &names, &names)));
    reader.finish(errors)?;
    Ok(OutputRequest {
        id: id.to_owned(),
        range: match pattern {
            Some(pattern) => OutputRange::Matches {
                pattern: pattern.to_owned(),
                from_line: from_line.unwrap_or(1),
                count: lines,
            },
            None if has_bytes => OutputRange::Bytes {
                from: from_byte.unwrap_or(0),
                count: bytes,
            },
            None => OutputRange::Lines {
                from: from_line.unwrap_or(1),
                count: lines,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registration::json_object;
    use serde_json::{Value, json};

    fn parsed(arguments: Value) -> Result<OutputRange, Vec<String>> {
        let call = CallRequest {
            arguments: json_object(arguments),
            ..CallRequest::default()
        };
        match parse(&call) {
            Ok(request) => Ok(request.range),
            Err(CallRefusal::Arguments(errors) | CallRefusal::Policy(errors)) => Err(errors),
        }
    }

    #[test]
    fn names_and_values_are_tolerated_in_other_spellings() {
        let lines = OutputRange::Lines {
            from: 3,
            count: Some(2),
        };
        assert_eq!(
            parsed(json!({"id": "x", "fromLine": "3", "lines": 2.0})),
            Ok(lines)
        );
        let all = OutputRange::Lines {
            from: 1,
            count: None,
        };
        assert_eq!(parsed(json!({"id": "x", "from_line": null})), Ok(all));
        let bytes = OutputRange::Bytes {
            from: 0,
            count: Some(9),
        };
        assert_eq!(parsed(json!({"id": "x", "bytes": 9})), Ok(bytes));
    }

    #[test]
    fn contradicting_unknown_and_invalid_arguments_are_refused_together() {
        let errors = parsed(json!({"from_line": 0, "bytes": "x", "patern": "a", "from_byte": -1}));
        let expected = [
            "Missing required argument 'id'",
            "Argument 'bytes': cannot convert 'x' to integer",
            "Argument 'from_line' must be at least 1",
            "Argument 'from_byte' must be at least 0",
            "Unknown argument 'patern': did you mean 'pattern'?",
        ];
        assert_eq!(errors, Err(expected.map(str::to_owned).into()));
        let flattened = CallRequest {
            unknown_parameters: json_object(json!({"id": "1"})),
            ..CallRequest::default()
        };
        let expected = [
            "Missing required argument 'id'",
            "Unknown argument 'id': put it into 'args'",
        ];
        let expected = CallRefusal::Arguments(expected.map(str::to_owned).into());
        assert_eq!(parse(&flattened), Err(expected));
        let errors = parsed(json!({"id": "x", "pattern": "a", "from_byte": 1}));
        assert!(errors.is_err_and(|errors| errors[0].contains("cannot be combined")));
    }
}
