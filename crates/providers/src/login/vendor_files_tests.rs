use super::*;
use proptest::prelude::*;
use secrecy::ExposeSecret;
use serde_json::json;

const NOW: u64 = 1_800_000_000;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn said(state: VendorState) -> String {
    match state {
        VendorState::Valid(token) => {
            format!("{} {}", token.access.expose_secret(), token.account.unwrap_or_default())
        }
        VendorState::Expired { tool, .. } => format!("run {}", tool.command()),
        VendorState::Absent => "absent".into(),
        VendorState::Unreadable { why, .. } => why,
    }
}

#[test]
fn files_of_claude_code_are_read() {
    let file = |login: Value| json!({"claudeAiOauth": login, "mcpOAuth": {}}).to_string();
    let at = |seconds: u64| json!({"accessToken": "tok", "refreshToken": "r", "expiresAt": seconds * 1000});
    for (text, want) in [
        (file(at(NOW + 3600)), "tok "),
        (file(at(NOW + 61)), "tok "),
        (file(at(NOW + 60)), "run claude"),
        (file(at(NOW - 1)), "run claude"),
        (file(json!({"accessToken": "tok", "expiresAt": 0})), "tok "),
        (file(json!({"accessToken": "tok"})), "tok "),
        (file(json!({"accessToken": "tok", "expiresAt": 1e300})), "tok "),
        (file(json!({"accessToken": "  "})), "absent"),
        (file(json!({"accessToken": 5})), "absent"),
        (file(json!(null)), "absent"),
        ("{}".into(), "absent"),
        ("[]".into(), "absent"),
        ("{\"claudeAiOauth\": {\"accessToken\": \"tok-sec".into(), "it is not JSON"),
        (String::new(), "it is not JSON"),
    ] {
        let got = parse_vendor_file(VendorTool::ClaudeCode, &text, Path::new("/f"), now());
        assert_eq!(said(got), want, "{text}");
    }
}

#[test]
fn files_of_codex_are_read_with_their_account() {
    let token = |exp: u64| {
        jwt::token_with(&json!({
            "exp": exp, "https://api.openai.com/auth": {"chatgpt_account_id": "acc-in-token"}
        }))
    };
    let file = |tokens: Value| json!({"OPENAI_API_KEY": null, "tokens": tokens}).to_string();
    let (good, old) = (token(NOW + 3600), token(NOW));
    for (text, want) in [
        (file(json!({"access_token": good, "account_id": "acc"})), format!("{good} acc")),
        (file(json!({"access_token": good})), format!("{good} acc-in-token")),
        (file(json!({"access_token": "opaque"})), "opaque ".into()),
        (file(json!({"access_token": old, "account_id": "acc"})), "run codex login".into()),
        (file(json!(null)), "absent".into()),
        (json!({"OPENAI_API_KEY": "sk-x"}).to_string(), "absent".into()),
    ] {
        let got = parse_vendor_file(VendorTool::Codex, &text, Path::new("/f"), now());
        assert_eq!(said(got), want, "{text}");
    }
}

#[test]
fn vendor_files_are_found_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        std::fs::write(path(name), text).unwrap();
    };
    let home = VendorPlaces { home: Some(path("h")), ..VendorPlaces::default() };
    let own =
        VendorPlaces { home: Some(path("h")), claude_dir: Some(path("own")), codex_dir: Some(path("own")) };
    let read = |tool, places: &VendorPlaces| said(read_vendor_file(tool, places, now()));
    assert_eq!(read(VendorTool::ClaudeCode, &home), "absent");
    assert_eq!(read(VendorTool::Codex, &VendorPlaces::default()), "absent");
    let login = |word: &str| json!({"claudeAiOauth": {"accessToken": word}}).to_string();
    write("h/.claude/.credentials.json", &login("usual"));
    write("own/.credentials.json", &login("own"));
    write("h/.codex/auth.json", r#"{"tokens": {"access_token": "codex"}}"#);
    assert_eq!(read(VendorTool::ClaudeCode, &home), "usual ");
    assert_eq!(read(VendorTool::ClaudeCode, &own), "own ");
    assert_eq!(read(VendorTool::Codex, &home), "codex ");
    assert_eq!(read(VendorTool::Codex, &own), "absent");
    // A file that cannot be read is reported, and not changed.
    write("own/auth.json", "not json, with a secret-word");
    assert_eq!(read(VendorTool::Codex, &own), "it is not JSON");
    assert_eq!(std::fs::read_to_string(path("own/auth.json")).unwrap(), "not json, with a secret-word");
    std::fs::write(path("own/auth.json"), vec![b' '; MAX_FILE as usize + 1]).unwrap();
    assert_eq!(read(VendorTool::Codex, &own), "it is too large for a login");
    std::fs::remove_file(path("own/auth.json")).unwrap();
    std::fs::create_dir(path("own/auth.json")).unwrap();
    assert_eq!(read(VendorTool::Codex, &own), "it is not a file");
}

proptest! {
    #[test]
    fn any_text_is_a_state_and_no_message_repeats_it(
        text in prop_oneof![".{0,80}", r#"\{"(claudeAiOauth|tokens)": ?(\{"(accessToken|access_token)": ?)?("hush[.a-z]{0,9}"|[0-9]{1,5}|\[\])\}{0,2}"#]
    ) {
        for tool in [VendorTool::ClaudeCode, VendorTool::Codex] {
            let state = parse_vendor_file(tool, &text, Path::new("/f"), now());
            let told = format!("{} {state:?}", state.why_not(tool));
            prop_assert!(!told.contains("hush"), "{}", told);
        }
    }
}
