use super::*;

const KEYS: &str = "DAYTONA_API_KEY=k\nTOOL_GATEWAY_USER_TOKEN=t\n";

fn settings(
    yaml: &str,
    dotenv: &str,
    shell: &[(&str, &str)],
    service: Service,
) -> Result<CloudSettings, String> {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.yaml"), yaml).unwrap();
    std::fs::write(home.path().join(".env"), dotenv).unwrap();
    let shell = shell.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let home = hermes_config::home::Home::at(home.path().to_owned());
    let config = Config::load(&home, Vec::new(), shell, Default::default()).unwrap();
    CloudSettings::of(&config, service, "default").map_err(|error| error.to_string())
}

#[test]
fn addresses_come_from_variables_or_have_defaults() {
    use Service::{Daytona, Modal};
    for (service, shell, want) in [
        (Daytona, &[][..], "https://app.daytona.io/api"),
        (Daytona, &[("DAYTONA_API_URL", "http://127.0.0.1:3000/api")], "http://127.0.0.1:3000/api"),
        (Modal, &[], "https://modal-gateway.nousresearch.com"),
        (Modal, &[("MODAL_GATEWAY_URL", "https://g.example")], "https://g.example"),
        (
            Modal,
            &[("TOOL_GATEWAY_DOMAIN", "a.example"), ("TOOL_GATEWAY_SCHEME", "http")],
            "http://modal-gateway.a.example",
        ),
    ] {
        assert_eq!(settings("", KEYS, shell, service).unwrap().url, want, "{shell:?}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    use Service::{Daytona, Modal};
    for (service, yaml, dotenv, shell, want) in [
        (Daytona, "", "", &[][..], "DAYTONA_API_KEY is missing"),
        (
            Daytona,
            "",
            "",
            &[("DAYTONA_API_KEY", "k")],
            "DAYTONA_API_KEY is only in the environment of this process",
        ),
        (Modal, "", "DAYTONA_API_KEY=k", &[], "TOOL_GATEWAY_USER_TOKEN is missing"),
        (Modal, "terminal: {modal_mode: direct}", KEYS, &[], "direct, which is not built in"),
        (Modal, "terminal: {modal_mode: other}", KEYS, &[], "use auto or managed"),
        (Modal, "", KEYS, &[("TOOL_GATEWAY_SCHEME", "ftp")], "TOOL_GATEWAY_SCHEME is `ftp`"),
        (Daytona, "", KEYS, &[("DAYTONA_API_URL", "file:///x")], "begins with https://"),
        (Daytona, "", KEYS, &[("DAYTONA_API_URL", "https://u:secret@h/")], "is `https://h/`"),
        (Daytona, "", KEYS, &[("DAYTONA_API_URL", "https://h/?key=secret")], "is `https://h/`"),
        (Daytona, "", KEYS, &[("DAYTONA_TOOLBOX_URL", "x")], "DAYTONA_TOOLBOX_URL is `x`"),
        (Daytona, "terminal: {daytona_image: \"a\\nRUN b\"}", KEYS, &[], "terminal.daytona_image"),
    ] {
        let error = settings(yaml, dotenv, shell, service).unwrap_err();
        assert!(error.contains(want), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn settings_survive_as_an_argument_without_a_key() {
    let yaml = "terminal: {container_persistent: false, container_cpu: 2, lifetime_seconds: 0, modal_image: 'a/b:1'}";
    let found = settings(yaml, KEYS, &[], Service::Modal).unwrap();
    let argument = found.argument();
    assert_eq!(CloudSettings::of_argument(&argument).unwrap(), found);
    assert_eq!(
        argument,
        r#"{"service":"modal","url":"https://modal-gateway.nousresearch.com","task":"default","image":"a/b:1","cpu":2,"memory":5120,"disk":51200,"persistent":false,"lifetime":0,"timing":{"pause_ms":1000,"grace_s":90,"request_ms":20000}}"#
    );
    assert!(CloudSettings::of_argument("{}").is_err());
}
