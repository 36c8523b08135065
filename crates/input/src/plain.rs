//! Resolves plain (unquoted) scalars to values by the rules of YAML 1.2, and detects those that YAML 1.1
//! resolves differently.

use std::fmt;

use crate::yaml::YamlValue;

/// How YAML 1.1 resolves a plain scalar that YAML 1.2 resolves differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yaml11Reading {
    /// `yes`, `no`, `on`, `off`
    Boolean(bool),
    /// `010`: octal
    Octal,
    /// `12:30`: base 60
    Sexagesimal,
    /// `0b11`, text in YAML 1.2
    Binary,
    /// `2026-01-31`
    Date,
    /// `0o17` and `1e3`, numbers in YAML 1.2
    Text,
}

impl fmt::Display for Yaml11Reading {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Boolean(true) => "the boolean true",
            Self::Boolean(false) => "the boolean false",
            Self::Octal => "an octal number",
            Self::Sexagesimal => "a number in base 60",
            Self::Binary => "a binary number",
            Self::Date => "a date",
            Self::Text => "text",
        })
    }
}

/// Resolves a plain scalar by the rules of YAML 1.2.
pub(crate) fn resolve_plain_scalar(scalar: &str) -> YamlValue {
    match scalar {
        "" | "~" | "null" | "Null" | "NULL" => YamlValue::Null,
        "true" | "True" | "TRUE" => YamlValue::Boolean(true),
        "false" | "False" | "FALSE" => YamlValue::Boolean(false),
        _ => parse_number(scalar).unwrap_or_else(|| YamlValue::Text(scalar.to_owned())),
    }
}

/// Parses a number. A decimal integer that does not fit into 64 bits becomes a float.
pub(crate) fn parse_number(scalar: &str) -> Option<YamlValue> {
    let unsigned = scalar.strip_prefix(['-', '+']).unwrap_or(scalar);
    let (radix, digits) = match unsigned.get(..2) {
        Some("0x") => (16, &unsigned[2..]),
        Some("0o") => (8, &unsigned[2..]),
        _ => (10, unsigned),
    };
    // YAML 1.1 allows separators, as in 1_000; configs of CLImax for Python may use them.
    let has_no_outer_separators = |text: &str| !text.starts_with('_') && !text.ends_with('_');
    let digits_only = digits.replace('_', "");
    if !digits_only.is_empty()
        && has_no_outer_separators(digits)
        && digits_only.chars().all(|digit| digit.is_digit(radix))
    {
        let sign = if scalar.starts_with('-') { "-" } else { "" };
        let integer = i64::from_str_radix(&format!("{sign}{digits_only}"), radix);
        return match integer {
            Ok(integer) => Some(YamlValue::Integer(integer)),
            Err(_) if radix == 10 => format!("{sign}{digits_only}")
                .parse()
                .ok()
                .map(YamlValue::Float),
            Err(_) => None,
        };
    }
    is_float(unsigned)
        .then(|| scalar.parse().ok().map(YamlValue::Float))
        .flatten()
}

/// `1.5`, `.5`, `1.`, `1e3`, `1.5e-3`
fn is_float(unsigned: &str) -> bool {
    let are_digits_or_empty = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent = exponent.map(|digits| digits.strip_prefix(['-', '+']).unwrap_or(digits));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    are_digits_or_empty(whole)
        && are_digits_or_empty(fraction)
        && whole.len() + fraction.len() > 0
        && exponent.is_none_or(|digits| !digits.is_empty() && are_digits_or_empty(digits))
}

/// How YAML 1.1 resolves a plain scalar, if YAML 1.2 resolves it differently.
pub(crate) fn yaml_1_1_reading(scalar: &str) -> Option<Yaml11Reading> {
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match scalar {
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(Yaml11Reading::Boolean(true)),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(Yaml11Reading::Boolean(false)),
        _ => {}
    }
    let unsigned = scalar.strip_prefix(['-', '+']).unwrap_or(scalar);
    let mut parts = unsigned.split(':');
    if unsigned.contains(':')
        && parts.all(|part| are_digits(part.split('.').next().unwrap_or(part)))
    {
        return Some(Yaml11Reading::Sexagesimal);
    }
    if unsigned.len() > 1 && unsigned.starts_with('0') && are_digits(unsigned) {
        return Some(Yaml11Reading::Octal);
    }
    if unsigned
        .strip_prefix("0b")
        .is_some_and(|bits| bits.bytes().all(|byte| matches!(byte, b'0' | b'1' | b'_')))
    {
        return Some(Yaml11Reading::Binary);
    }
    let is_octal = unsigned.strip_prefix("0o").is_some_and(are_digits);
    let has_exponent = unsigned
        .split_once(['e', 'E'])
        .is_some_and(|(mantissa, exponent)| {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            are_digits(mantissa) && are_digits(exponent)
        });
    if is_octal || has_exponent {
        return Some(Yaml11Reading::Text);
    }
    let mut date = scalar.splitn(3, '-');
    if let (Some(year), Some(month), Some(day)) = (date.next(), date.next(), date.next())
        && year.len() == 4
        && are_digits(year)
        && are_digits(month)
        && month.len() <= 2
        && are_digits(day.get(..2).unwrap_or(day))
    {
        return Some(Yaml11Reading::Date);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_that_yaml_1_1_resolves_differently_are_detected() {
        for (text, reading) in [
            ("yes", Some(Yaml11Reading::Boolean(true))),
            ("Off", Some(Yaml11Reading::Boolean(false))),
            ("010", Some(Yaml11Reading::Octal)),
            ("12:30", Some(Yaml11Reading::Sexagesimal)),
            ("0b11", Some(Yaml11Reading::Binary)),
            ("2026-01-31", Some(Yaml11Reading::Date)),
            ("0o17", Some(Yaml11Reading::Text)),
            ("1e3", Some(Yaml11Reading::Text)),
            ("1.5e3", None),
            ("east", None),
            ("yesterday", None),
            ("localhost:80", None),
            ("10", None),
            ("0", None),
            ("y", None),
        ] {
            assert_eq!(yaml_1_1_reading(text), reading, "{text}");
        }
    }

    #[test]
    fn plain_scalars_follow_yaml_1_2() {
        for (text, expected) in [
            ("~", YamlValue::Null),
            ("True", YamlValue::Boolean(true)),
            ("-12", YamlValue::Integer(-12)),
            ("1_000", YamlValue::Integer(1000)),
            ("0x1F", YamlValue::Integer(31)),
            (
                "9223372036854775808",
                YamlValue::Float(9_223_372_036_854_775_808.0),
            ),
            (".5", YamlValue::Float(0.5)),
            ("-1.5e-3", YamlValue::Float(-0.0015)),
            ("1.", YamlValue::Float(1.0)),
        ] {
            assert_eq!(resolve_plain_scalar(text), expected, "{text}");
        }
        for text in [".inf", "_1", "1.2.3", "e5", ".", "0x", "-"] {
            assert_eq!(resolve_plain_scalar(text), YamlValue::Text(text.to_owned()));
        }
    }
}
