use super::*;

const A: &str = "ba7816bf8f01cfea414140de5dae2223.txt";
const B: &str = "00000000000000000000000000000000.txt";
const U: &str = "ba7816bf8f01cfea414140de5dae2223.untrusted.txt";

#[test]
fn mentions_are_found_in_any_text() {
    for (text, want) in [
        (String::new(), vec![]),
        ("hermes-results/ and nothing else".to_owned(), vec![]),
        (format!("all of it is in /h/cache/terminal/hermes-results/{A}]"), vec![A]),
        (format!(r#"{{"path":"hermes-results/{A}"}}hermes-results/{B}"#), vec![B, A]),
        (format!("hermes-results/{A} hermes-results/{A}"), vec![A]),
        (format!("elsewhere/{A}"), vec![]),
        (format!("in hermes-results/{U}. And hermes-results/{A}"), vec![A, U]),
        (format!("hermes-results/{}", U.replace("untrusted", "trusted")), vec![]),
        (format!("hermes-results/{}", A.to_uppercase()), vec![]),
        ("hermes-results/12-call_a.txt".to_owned(), vec![]),
        (format!("hermes-results/{}", &A[..20]), vec![]),
        (format!("hermes-results/{}中文中文", &A[..28]), vec![]),
        (format!("hermes-results/hermes-results/{B}"), vec![B]),
    ] {
        let found: Vec<String> = mentioned(&text).into_iter().collect();
        assert_eq!(found, want, "{text}");
    }
}

#[test]
fn kind_is_derived_from_the_name() {
    for (name, want) in [
        (A, FileKind::Content),
        (U, FileKind::Content),
        (".untrusted.txt", FileKind::Other),
        ("17-0.part", FileKind::Growing),
        ("17-.part", FileKind::Other),
        ("notes.part", FileKind::Other),
        ("12-call_a.txt", FileKind::Other),
        ("ba7816bf.txt", FileKind::Other),
        ("", FileKind::Other),
    ] {
        assert_eq!(kind_of(name), want, "{name}");
    }
}

#[test]
fn name_matches_the_hash_of_its_content_only() {
    for (bytes, name, want) in [("abc", A, true), ("abc", U, true), ("abd", A, false), ("abc", B, false)] {
        assert_eq!(matches_hash(Sha256::new().chain_update(bytes), name), want, "{bytes} {name}");
    }
}
