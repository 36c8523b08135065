//! Writes moments by the calendar, in UTC.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment. It is shown as RFC 3339 writes it.
pub(crate) struct Moment {
    seconds: u64,
    microseconds: u32,
}

/// Year, month and day.
struct Date(u64, u64, u64);

impl Moment {
    pub(crate) fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            seconds: since.as_secs(),
            microseconds: since.subsec_micros(),
        }
    }

    /// As people read it: `2026-11-16 17:30:00 UTC`.
    pub(crate) fn plain(&self) -> String {
        let Date(year, month, day) = self.date();
        let (hour, minute, second) = self.time();
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }

    fn date(&self) -> Date {
        // Years begin in March here, so that the day that may be missing is the last. The first one
        // began 719468 days before 1970, and 400 years have 146097 days.
        let days = self.seconds / 86400 + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        // Five months from March have 153 days, and so have the next five.
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let year = year + 400 * era + u64::from(month >= 10);
        let month = if month < 10 { month + 3 } else { month - 9 };
        Date(year, month, day)
    }

    fn time(&self) -> (u64, u64, u64) {
        let second = self.seconds % 86400;
        (second / 3600, second / 60 % 60, second % 60)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Date(year, month, day) = self.date();
        let (hour, minute, second) = self.time();
        let microseconds = self.microseconds;
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microseconds:06}Z"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_by_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000007Z"),
            (951_782_399, "2000-02-28T23:59:59.000007Z"),
            (951_782_400, "2000-02-29T00:00:00.000007Z"),
            (951_868_800, "2000-03-01T00:00:00.000007Z"),
            (1_767_225_599, "2025-12-31T23:59:59.000007Z"),
            (1_794_828_083, "2026-11-16T11:21:23.000007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000007Z"),
        ] {
            let moment = Moment {
                seconds,
                microseconds: 7,
            };
            assert_eq!(moment.to_string(), expected);
            let plain = expected.replace('T', " ").replace(".000007Z", " UTC");
            assert_eq!(moment.plain(), plain);
        }
    }
}
