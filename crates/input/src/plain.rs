//! What an unquoted scalar stands for: in YAML 1.2, which is what counts, and in YAML 1.1, where that is
//! something else.

use std::fmt;

use crate::yaml::YamlValue;

/// What YAML 1.1 takes an unquoted scalar for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yaml11Reading {
    /// `yes`, `no`, `on`, `off`
    Boolean(bool),
    /// `010`: octal
    Octal,
    /// `12:30`: base 60
    Sexagesimal,
    /// `0b11`, which YAML 1.2 takes for text
    Binary,
    /// `2026-01-31`
    Date,
    /// `0o17` and `1e3`, which YAML 1.2 takes for numbers
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

/// What an unquoted scalar stands for.
pub(crate) fn value(scalar: &str) -> YamlValue {
    match scalar {
        "" | "~" | "null" | "Null" | "NULL" => YamlValue::Null,
        "true" | "True" | "TRUE" => YamlValue::Boolean(true),
        "false" | "False" | "FALSE" => YamlValue::Boolean(false),
        _ => number(scalar).unwrap_or_else(|| YamlValue::Text(scalar.to_owned())),
    }
}

/// The number that a scalar stands for, if it is one. One that does not fit into 64 bits is a float.
pub(crate) fn number(scalar: &str) -> Option<YamlValue> {
    let unsigned = scalar.strip_prefix(['-', '+']).unwrap_or(scalar);
    let (radix, digits) = match unsigned.get(..2) {
        Some("0x") => (16, &unsigned[2..]),
        Some("0o") => (8, &unsigned[2..]),
        _ => (10, unsigned),
    };
    // Both versions allow them in the writing of many people: 1_000.
    let are_separated = |text: &str| !text.starts_with('_') && !text.ends_with('_');
    let plain = digits.replace('_', "");
    if !plain.is_empty()
        && are_separated(digits)
        && plain.chars().all(|digit| digit.is_digit(radix))
    {
        let sign = if scalar.starts_with('-') { "-" } else { "" };
        let integer = i64::from_str_radix(&format!("{sign}{plain}"), radix);
        return match integer {
            Ok(integer) => Some(YamlValue::Integer(integer)),
            Err(_) if radix == 10 => format!("{sign}{plain}").parse().ok().map(YamlValue::Float),
            Err(_) => None,
        };
    }
    is_float(unsigned)
        .then(|| scalar.parse().ok().map(YamlValue::Float))
        .flatten()
}

/// `1.5`, `.5`, `1.`, `1e3`, `1.5e-3`
fn is_float(unsigned: &str) -> bool {
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (number, power) = match unsigned.split_once(['e', 'E']) {
        Some((number, power)) => (number, Some(power)),
        None => (unsigned, None),
    };
    let power = power.map(|power| power.strip_prefix(['-', '+']).unwrap_or(power));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    are_digits(whole)
        && are_digits(part)
        && whole.len() + part.len() > 0
        && power.is_none_or(|power| !power.is_empty() && are_digits(power))
}

/// What YAML 1.1 takes an unquoted scalar for, where YAML 1.2 takes it for something else.
pub(crate) fn yaml_1_1_reading(scalar: &str) -> Option<Yaml11Reading> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match scalar {
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(Yaml11Reading::Boolean(true)),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(Yaml11Reading::Boolean(false)),
        _ => {}
    }
    let unsigned = scalar.strip_prefix(['-', '+']).unwrap_or(scalar);
    let mut parts = unsigned.split(':');
    if unsigned.contains(':') && parts.all(|part| digits(part.split('.').next().unwrap_or(part))) {
        return Some(Yaml11Reading::Sexagesimal);
    }
    if unsigned.len() > 1 && unsigned.starts_with('0') && digits(unsigned) {
        return Some(Yaml11Reading::Octal);
    }
    if unsigned
        .strip_prefix("0b")
        .is_some_and(|bits| bits.bytes().all(|byte| matches!(byte, b'0' | b'1' | b'_')))
    {
        return Some(Yaml11Reading::Binary);
    }
    let is_octal = unsigned.strip_prefix("0o").is_some_and(digits);
    let is_power = unsigned
        .split_once(['e', 'E'])
        .is_some_and(|(number, power)| {
            digits(number) && digits(power.strip_prefix(['-', '+']).unwrap_or(power))
        });
    if is_octal || is_power {
        return Some(Yaml11Reading::Text);
    }
    let mut date = scalar.splitn(3, '-');
    if let (Some(year), Some(month), Some(day)) = (date.next(), date.next(), date.next())
        && year.len() == 4
        && digits(year)
        && digits(month)
        && month.len() <= 2
        && digits(day.get(..2).unwrap_or(day))
    {
        return Some(Yaml11Reading::Date);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_that_yaml_1_1_reads_otherwise_are_known() {
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
    fn scalars_are_what_yaml_1_2_says() {
        for (text, meant) in [
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
            assert_eq!(value(text), meant, "{text}");
        }
        for text in [".inf", "_1", "1.2.3", "e5", ".", "0x", "-"] {
            assert_eq!(value(text), YamlValue::Text(text.to_owned()));
        }
    }
}
