//! The time zone of this machine.
//!
//! jiff lists the whole zone database before it opens one zone, which was a sixth of the instructions of a
//! one-shot. The zone's file is opened directly where its name is plain.

use jiff::tz::TimeZone;
use std::path::Path;
use std::sync::OnceLock;

const ZONES: &str = "/usr/share/zoneinfo";

/// The zone that `TZ` names, else the one of `/etc/localtime`. Read once.
pub fn local_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| read_zone().unwrap_or_else(TimeZone::system)).clone()
}

fn read_zone() -> Option<TimeZone> {
    let variable = std::env::var_os("TZ");
    let link = std::fs::read_link("/etc/localtime").ok();
    let name = zone_name(variable.as_ref().map(|value| value.to_str()), link.as_deref())?;
    let data = std::fs::read(Path::new(ZONES).join(name)).ok()?;
    TimeZone::tzif(name, &data).ok()
}

/// The name of the zone, unless it takes more to find it: a rule or a path in `TZ`, or a copy instead of a link.
fn zone_name<'a>(variable: Option<Option<&'a str>>, link: Option<&'a Path>) -> Option<&'a str> {
    let name = match variable {
        Some(value) => value?,
        None => link?.to_str()?.split_once("/zoneinfo/")?.1,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/');
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_plain);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    /// The variable, the link, and the expected name.
    type Row<'a> = (Option<Option<&'a str>>, Option<&'a Path>, Option<&'a str>);

    #[test]
    fn only_plain_names_are_opened_directly() {
        let link = Path::new("/usr/share/zoneinfo/Europe/Berlin");
        let rows: [Row<'_>; 9] = [
            (None, Some(link), Some("Europe/Berlin")),
            (None, Some(Path::new("../usr/share/zoneinfo/Etc/GMT+3")), Some("Etc/GMT+3")),
            (None, Some(Path::new("/somewhere/else")), None),
            (None, None, None),
            (Some(Some("Asia/Tokyo")), Some(link), Some("Asia/Tokyo")),
            (Some(Some("")), Some(link), None),
            (Some(Some(":Asia/Tokyo")), Some(link), None),
            (Some(Some("../../etc/passwd")), Some(link), None),
            (Some(None), Some(link), None),
        ];
        for (variable, link, want) in rows {
            assert_eq!(zone_name(variable, link), want, "{variable:?} {link:?}");
        }
    }

    #[test]
    fn zone_is_the_one_that_jiff_finds() {
        let time = Timestamp::from_second(1_790_000_000).unwrap();
        let shown = |zone| time.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S %z %Z %Q").to_string();
        assert_eq!(shown(local_zone()), shown(TimeZone::system()));
    }
}
