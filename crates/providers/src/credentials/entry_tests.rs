use super::*;
use serde_json::json;

fn entry(provider: &str, fields: Value) -> Entry {
    Entry::read(provider, fields.as_object().unwrap(), 0)
}

const NOW: f64 = 1_800_000_000.0;

#[test]
fn cooldown_ends_at_the_stated_time_or_by_status() {
    let resting = |until| Availability::CoolingDown { until };
    for (fields, want) in [
        (json!({}), Availability::Ready),
        (json!({"last_status": "ok", "last_status_at": NOW}), Availability::Ready),
        (
            json!({"last_status": "exhausted", "last_status_at": NOW, "last_error_code": 401}),
            resting(NOW + 300.0),
        ),
        (
            json!({"last_status": "exhausted", "last_status_at": NOW, "last_error_code": 429}),
            resting(NOW + 3600.0),
        ),
        (
            json!({"last_status": "exhausted", "last_status_at": NOW, "last_error_code": 402}),
            resting(NOW + 3600.0),
        ),
        (json!({"last_status": "exhausted", "last_status_at": NOW}), resting(NOW + 3600.0)),
        (
            json!({"last_status": "exhausted", "last_status_at": NOW - 300.0, "last_error_code": 401}),
            Availability::Ready,
        ),
        (
            json!({"last_status": "exhausted", "last_status_at": NOW - 3599.0, "last_error_code": 429}),
            resting(NOW + 1.0),
        ),
        // The stated end takes precedence, in both directions.
        (
            json!({"last_status": "exhausted", "last_status_at": NOW, "last_error_reset_at": NOW + 7.0}),
            resting(NOW + 7.0),
        ),
        (
            json!({"last_status": "exhausted", "last_status_at": NOW, "last_error_reset_at": NOW - 7.0}),
            Availability::Ready,
        ),
        (
            json!({"last_status": "exhausted", "last_error_reset_at": "2027-01-15T09:00:00Z"}),
            resting(NOW + 3600.0),
        ),
        // Nothing states an end.
        (json!({"last_status": "exhausted"}), Availability::Ready),
        (json!({"last_status": "dead", "last_status_at": NOW - 1e6}), Availability::Dead),
        (json!({"access_token": ""}), Availability::NoKey),
        (json!({"access_token": "your-key-here"}), Availability::NoKey),
        (json!({"access_token": "", "auth_type": "oauth", "refresh_token": "r"}), Availability::Ready),
    ] {
        let mut all = json!({"access_token": "k"});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(entry("p", all).availability(NOW), want, "{fields}");
    }
}

#[test]
fn a_login_is_renewed_two_minutes_before_it_ends() {
    let jwt = |exp: f64| jwt::token_with(&json!({"exp": exp}));
    for (fields, want) in [
        (json!({"expires_at_ms": (NOW + 121.0) * 1000.0}), false),
        (json!({"expires_at_ms": (NOW + 120.0) * 1000.0}), true),
        (json!({"expires_at": "2027-01-15T08:01:00Z"}), true),
        (json!({"expires_at": "2027-01-15T09:00:00Z"}), false),
        (json!({"access_token": jwt(NOW + 60.0)}), true),
        (json!({"access_token": jwt(NOW + 600.0)}), false),
        (json!({"access_token": ""}), true),
        (json!({}), false),
        (json!({"expires_at": "2027-01-15T08:01:00Z", "refresh_token": null}), false),
        (json!({"expires_at": "2027-01-15T08:01:00Z", "auth_type": "api_key"}), false),
    ] {
        let mut all = json!({"access_token": "t", "auth_type": "oauth", "refresh_token": "r"});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(entry("p", all).needs_renewal(NOW), want, "{fields}");
    }
}

#[test]
fn odd_fields_are_read_or_left_alone() {
    let odd =
        entry("p", json!({"id": 7, "label": " ", "priority": "x", "request_count": -1, "later": {"x": 1}}));
    assert_eq!((odd.id.as_str(), odd.label.as_str(), odd.source.as_str()), ("#1", "manual", "manual"));
    assert_eq!((odd.priority, odd.request_count), (0, 0));
    assert_eq!(odd.more.get("later"), Some(&json!({"x": 1})));
    let login = entry("anthropic", json!({"access_token": "sk-ant-oat01-x", "auth_type": "api_key"}));
    assert_eq!(login.auth_type, AuthType::OAuth);
    let bought =
        entry("nous", json!({"access_token": "a", "agent_key": "b", "inference_base_url": "https://i/v1"}));
    assert_eq!((bought.key.expose_secret(), bought.base_url.as_deref()), ("b", Some("https://i/v1")));
}

#[test]
fn keys_are_displayed_by_their_end_at_most() {
    for (key, want) in [
        ("sk-or-v1-0123456789abcdef", "sk-…cdef"),
        ("0123456789abcdef", "…cdef"),
        ("0123456789abcde", "…"),
        ("short", "…"),
        ("", "(not set here)"),
        ("ключключключключ", "…ключ"),
    ] {
        assert_eq!(entry("p", json!({"access_token": key})).shown_key(), want, "{key}");
    }
}
