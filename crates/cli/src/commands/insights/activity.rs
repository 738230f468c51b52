//! Activity by local time.

use hermes_store::Quarter;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// Whole days of local time, up to today.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    pub(super) first: Date,
    pub(super) last: Date,
    zone: TimeZone,
    since: Timestamp,
    until: Timestamp,
}

/// Messages by weekday (Monday first), by hour, and by day from the first to the last.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Activity {
    pub(super) by_weekday: [u64; 7],
    pub(super) by_hour: [u64; 24],
    pub(super) by_day: Vec<(Date, u64)>,
}

impl Stretch {
    pub(super) fn ending_now(days: u32) -> Result<Self, jiff::Error> {
        Self::ending(&hermes_runtime::clock::zoned(), days)
    }

    pub(super) fn ending(now: &Zoned, days: u32) -> Result<Self, jiff::Error> {
        let last = now.date();
        let first = last.checked_sub(Span::new().try_days(i64::from(days) - 1)?)?;
        let zone = now.time_zone().clone();
        let since = first.to_zoned(zone.clone())?.timestamp();
        let until = last.tomorrow()?.to_zoned(zone.clone())?.timestamp();
        Ok(Self { first, last, zone, since, until })
    }

    /// Its first second, since the epoch.
    pub(super) fn since(&self) -> f64 {
        self.since.as_second() as f64
    }

    /// The first second after it.
    pub(super) fn until(&self) -> f64 {
        self.until.as_second() as f64
    }

    pub(super) fn days(&self) -> usize {
        let days = self.first.until(self.last).map_or(0, |span| span.get_days());
        usize::try_from(days).unwrap_or_default() + 1
    }

    /// Sorts quarters of hours into hours, weekdays and days.
    pub(super) fn activity(&self, quarters: &[Quarter]) -> Activity {
        let days = std::iter::successors(Some(self.first), |day| day.tomorrow().ok());
        let mut found = Activity {
            by_weekday: [0; 7],
            by_hour: [0; 24],
            by_day: days.take(self.days()).map(|day| (day, 0)).collect(),
        };
        for quarter in quarters {
            let Ok(time) = Timestamp::from_second(quarter.at) else { continue };
            // If a day does not start at a full quarter, its first messages are filed a moment early;
            // they still belong to the first day.
            let local = time.max(self.since).to_zoned(self.zone.clone());
            let weekday = usize::try_from(local.weekday().to_monday_zero_offset()).unwrap_or_default();
            let hour = usize::try_from(local.hour()).unwrap_or_default();
            if let Ok(place) = found.by_day.binary_search_by_key(&local.date(), |(day, _)| *day) {
                found.by_day[place].1 += quarter.messages;
            }
            found.by_weekday[weekday % 7] += quarter.messages;
            found.by_hour[hour % 24] += quarter.messages;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn days_begin_and_end_at_local_midnight() {
        for (zone, days, first, since) in [
            ("UTC", 1, date(2026, 3, 30), "2026-03-30T00:00:00Z"),
            ("UTC", 30, date(2026, 3, 1), "2026-03-01T00:00:00Z"),
            // The clocks go forward on the 29th: that day has 23 hours.
            ("Europe/Berlin", 2, date(2026, 3, 29), "2026-03-28T23:00:00Z"),
            ("Europe/Berlin", 1, date(2026, 3, 30), "2026-03-29T22:00:00Z"),
            ("Asia/Kathmandu", 1, date(2026, 3, 30), "2026-03-29T18:15:00Z"),
        ] {
            let now = date(2026, 3, 30).at(12, 0, 0, 0).in_tz(zone).unwrap();
            let stretch = Stretch::ending(&now, days).unwrap();
            let got = (stretch.first, stretch.days(), stretch.since.to_string());
            assert_eq!(got, (first, days as usize, since.to_owned()), "{zone}, {days} days");
        }
        assert!(Stretch::ending(&hermes_runtime::clock::zoned(), u32::MAX).is_err());
    }

    #[test]
    fn quarters_are_sorted_by_local_time() {
        let now = date(2026, 11, 15).at(12, 0, 0, 0).in_tz("Asia/Kolkata").unwrap();
        let stretch = Stretch::ending(&now, 3).unwrap();
        let at =
            |text: &str, messages| Quarter { at: text.parse::<Timestamp>().unwrap().as_second(), messages };
        let found = stretch.activity(&[
            at("2026-11-12T18:30:00Z", 1), // Friday, midnight
            at("2026-11-14T18:15:00Z", 2), // Saturday, a quarter to midnight
            at("2026-11-14T18:30:00Z", 4), // Sunday, midnight
            at("2026-11-15T06:15:00Z", 8), // Sunday, 11:45
        ]);
        let days = vec![(date(2026, 11, 13), 1), (date(2026, 11, 14), 2), (date(2026, 11, 15), 12)];
        assert_eq!((found.by_day, found.by_weekday), (days, [0, 0, 0, 0, 1, 2, 12]));
        assert_eq!((found.by_hour[0], found.by_hour[11], found.by_hour[23]), (5, 8, 2));
    }
}
