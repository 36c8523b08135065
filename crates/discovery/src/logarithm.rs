//! The natural logarithm. The system's would cost each start of the server the loading of a library, and
//! may differ between systems.

/// The natural logarithm of a positive, normal number.
pub(crate) fn ln(number: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = number.to_bits();
    #[expect(clippy::cast_precision_loss, reason = "eleven bits")]
    let exponent = (bits >> 52) as f64 - 1023.0;
    // The number's digits as one between 1 and 2.
    let digits = f64::from_bits(bits & MANTISSA | 1.0_f64.to_bits());
    // ln x = 2 artanh ((x - 1) / (x + 1)), and the ratio is at most a third.
    let ratio = (digits - 1.0) / (digits + 1.0);
    let square = ratio * ratio;
    let series = (0..16).rev().fold(0.0, |sum, power| {
        sum * square + 1.0 / f64::from(2 * power + 1)
    });
    exponent * std::f64::consts::LN_2 + 2.0 * ratio * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithm_is_right() {
        for number in [
            1.0, 1.5, 1.999_999, 2.0, 3.0, 10.0, 12345.0, 0.25, 1e-9, 1e15,
        ] {
            let difference = ln(number) - f64::ln(number);
            assert!(difference.abs() < 1e-12, "{number}: {difference}");
        }
    }
}
