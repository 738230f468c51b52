use super::*;
use crate::credentials::{AuthData, Pool};
use serde_json::{Value, json};
use std::path::Path;

const NOW: f64 = 1_800_000_000.0;

fn pool(entries: &[(&str, Value)]) -> Pool {
    let list: Vec<Value> = entries
        .iter()
        .enumerate()
        .map(|(at, (id, more))| {
            let mut entry = json!({"id": id, "priority": at, "access_token": format!("key-of-{id}")});
            entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            entry
        })
        .collect();
    let root = json!({"credential_pool": {"p": list}}).to_string();
    Pool::of(&AuthData::parse(Path::new("x"), root.as_bytes()).unwrap(), "p", &[])
}

fn rests(seconds: f64) -> Value {
    json!({"last_status": "exhausted", "last_error_reset_at": NOW + seconds})
}

fn used(count: u64) -> Value {
    json!({"request_count": count})
}

#[test]
fn strategy_chooses_among_available_credentials() {
    use Strategy::{FillFirst, LeastUsed, Random, RoundRobin};
    let dead = || json!({"last_status": "dead"});
    let plain = || json!({});
    let taken: &[&str] = &[];
    for (strategy, entries, random, taken, want) in [
        (FillFirst, vec![("a", plain()), ("b", plain())], 0.9, taken, Some("a")),
        (FillFirst, vec![("a", rests(1.0)), ("b", plain())], 0.0, taken, Some("b")),
        (FillFirst, vec![("a", rests(0.0)), ("b", plain())], 0.0, taken, Some("a")),
        (FillFirst, vec![("a", dead()), ("b", plain())], 0.0, taken, Some("b")),
        (FillFirst, vec![("a", rests(1.0)), ("b", dead())], 0.0, taken, None),
        (FillFirst, vec![], 0.0, taken, None),
        (FillFirst, vec![("a", plain()), ("b", plain())], 0.0, &["a"], Some("b")),
        (FillFirst, vec![("a", plain()), ("b", plain())], 0.0, &["a", "b"], Some("a")),
        (FillFirst, vec![("a", plain()), ("b", rests(5.0))], 0.0, &["a"], Some("a")),
        (RoundRobin, vec![("a", plain()), ("b", plain())], 0.9, taken, Some("a")),
        (Random, vec![("a", plain()), ("b", plain()), ("c", plain())], 0.0, taken, Some("a")),
        (Random, vec![("a", plain()), ("b", plain()), ("c", plain())], 0.34, taken, Some("b")),
        (Random, vec![("a", plain()), ("b", plain()), ("c", plain())], 0.999, taken, Some("c")),
        (Random, vec![("a", plain()), ("b", plain())], 1.0, taken, Some("b")),
        (Random, vec![("a", rests(9.0)), ("b", plain()), ("c", plain())], 0.0, taken, Some("b")),
        (LeastUsed, vec![("a", used(3)), ("b", used(1)), ("c", used(2))], 0.0, taken, Some("b")),
        (LeastUsed, vec![("a", used(1)), ("b", used(1))], 0.0, taken, Some("a")),
        (LeastUsed, vec![("a", used(3)), ("b", used(1))], 0.0, &["b"], Some("a")),
    ] {
        let pool = pool(&entries);
        let count = |id: &str| usize::from(taken.contains(&id));
        let by = Choosing { strategy, now: NOW, random, taken: &count };
        let got = choose(&pool.entries, &by).map(|entry| entry.id.as_str());
        assert_eq!(got, want, "{strategy:?} {entries:?} {random} {taken:?}");
    }
}

#[test]
fn end_of_the_first_cooldown_is_returned() {
    let all = [("a", rests(60.0)), ("b", rests(5.0)), ("c", json!({"last_status": "dead"}))];
    assert_eq!(soonest(&pool(&all).entries, NOW), Some(NOW + 5.0));
    assert_eq!(soonest(&pool(&all[2..]).entries, NOW), None);
}

#[test]
fn strategies_are_parsed() {
    for (word, want) in [
        ("fill_first", Some(Strategy::FillFirst)),
        (" Round_Robin ", Some(Strategy::RoundRobin)),
        ("random", Some(Strategy::Random)),
        ("least_used", Some(Strategy::LeastUsed)),
        ("fastest", None),
        ("", None),
    ] {
        assert_eq!(Strategy::parse(word), want, "{word}");
    }
}
