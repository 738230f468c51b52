//! Keys and origins, with the real binary: each key is seen by its own origin and by no other, and
//! nowhere in what is printed.

use crate::process::{self, stderr, stdout};
use hermes_scripted::Listener;
use hermes_scripted::http::{Connection, whole};
use hermes_testkit::TempHome;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};

const KEYS: [(&str, &str); 6] = [
    ("OPENROUTER_API_KEY", "sk-or-v1-openrouter-0123456789"),
    ("OPENAI_API_KEY", "sk-proj-openai-0123456789abcd"),
    ("DEEPSEEK_API_KEY", "sk-deepseek-0123456789abcdef"),
    ("GLM_API_KEY", "glm-0123456789abcdef.0123456789"),
    ("AI_GATEWAY_API_KEY", "vck-gateway-0123456789abcdef"),
    ("BOX_CRED", "box-credential-0123456789abc"),
];

/// Keys in `auth.json`, by the names that scenes give them.
const STORED: [(&str, &str); 2] =
    [("stored one", "sk-stored-one-0123456789abcdef"), ("stored two", "stored-two-0123456789abcdef")];

/// A server that remembers every byte of every head it is sent, and repeats it in its refusals.
struct Witness {
    listening: Listener,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Witness {
    /// With an address to go to, every answer is a redirect there.
    async fn new(redirects_to: Option<String>) -> Self {
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let into = heard.clone();
        let serve = move |connection| listen(connection, into.clone(), redirects_to.clone());
        Self { listening: Listener::start(serve).await.unwrap(), heard }
    }

    fn url(&self) -> String {
        self.listening.base_url()
    }

    /// The keys it has heard since it was last asked, by their variables.
    fn keys(&self) -> BTreeSet<&'static str> {
        let heard = std::mem::take(&mut *self.heard.lock().unwrap()).join("\n");
        KEYS.iter().chain(&STORED).filter(|(_, key)| heard.contains(key)).map(|(name, _)| *name).collect()
    }

    fn was_asked(&self) -> bool {
        !self.heard.lock().unwrap().is_empty()
    }
}

async fn listen(mut connection: Connection, heard: Arc<Mutex<Vec<String>>>, redirects_to: Option<String>) {
    while let Ok(Some(request)) = connection.next_request().await {
        let all = format!("{request:?} {}", String::from_utf8_lossy(&request.body));
        heard.lock().unwrap().push(all.clone());
        let answer = match &redirects_to {
            Some(target) => whole(307, &[("location", target.as_str())], b""),
            None => whole(401, &[("content-type", "application/json")], all.as_bytes()),
        };
        if connection.send(&answer).await.is_err() {
            return;
        }
    }
}

async fn run(home: &Path, args: &[&str], more: &[(&str, String)]) -> Output {
    let mut command = process::hermes(home, home, args);
    command.envs(KEYS).envs(more.iter().cloned());
    process::finished(command).await
}

/// Everything that talks about or to an endpoint.
const COMMANDS: [&[&str]; 9] = [
    &["-z", "hi"],
    &["--json", "-z", "hi"],
    &["model", "show", "--json"],
    &["model", "resolve", "--json"],
    &["model", "list", "--all", "--json"],
    &["doctor", "--json"],
    &["config", "show", "--all", "--json"],
    &["auth", "list", "--json"],
    &["auth", "status"],
];

struct Scene {
    name: &'static str,
    config: String,
    env: Vec<(&'static str, String)>,
    /// A provider whose models are listed as well.
    lists: &'static str,
    /// The pool in `auth.json`.
    stored: Option<serde_json::Value>,
    first: &'static [&'static str],
    second: &'static [&'static str],
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_sent_only_to_their_origin() {
    let second = Witness::new(None).await;
    let first = Witness::new(None).await;
    let (a, b) = (first.url(), second.url());
    let model = |text: &str| format!("model: {{default: m, {text}}}\n");
    let entries = format!(
        "custom_providers:\n  - {{name: box, base_url: '{b}', key_env: BOX_CRED}}\n  - {{name: thief, base_url: '{a}', key_env: OPENROUTER_API_KEY}}\n"
    );
    let one = |base_url: &str| json!({"id": "one", "access_token": STORED[0].1, "base_url": base_url});
    let two = |base_url: &str| json!({"id": "two", "priority": 1, "access_token": STORED[1].1, "base_url": base_url});
    let scenes = [
        Scene {
            name: "two providers, each with a variable for its address",
            config: model("provider: deepseek"),
            env: vec![("DEEPSEEK_BASE_URL", a.clone()), ("GLM_BASE_URL", b.clone())],
            lists: "zai",
            stored: None,
            first: &["DEEPSEEK_API_KEY"],
            second: &["GLM_API_KEY"],
        },
        Scene {
            name: "an explicit custom endpoint gets no key of the environment",
            config: model(&format!("provider: custom, base_url: '{a}'")),
            env: vec![],
            lists: "custom",
            stored: None,
            first: &[],
            second: &[],
        },
        Scene {
            name: "a key written beside a custom endpoint is sent there",
            config: model(&format!("provider: custom, base_url: '{a}', api_key: '${{OPENAI_API_KEY}}'")),
            env: vec![],
            lists: "custom",
            stored: None,
            first: &["OPENAI_API_KEY"],
            second: &[],
        },
        Scene {
            name: "a bare address gets nothing",
            config: model(&format!("base_url: '{a}'")),
            env: vec![],
            // Asking for the models of `custom` would be naming it.
            lists: "deepinfra",
            stored: None,
            first: &[],
            second: &[],
        },
        Scene {
            name: "a foreign address under a known provider gets nothing",
            config: model(&format!("provider: openrouter, base_url: '{a}'")),
            env: vec![],
            lists: "openrouter",
            stored: None,
            first: &[],
            second: &[],
        },
        Scene {
            name: "a pinned key does not follow its provider's variable",
            config: model("provider: openrouter"),
            env: vec![("OPENROUTER_BASE_URL", a.clone())],
            lists: "openrouter",
            stored: None,
            first: &[],
            second: &[],
        },
        Scene {
            name: "OPENAI_BASE_URL takes the OpenAI key",
            config: model("provider: openai"),
            env: vec![("OPENAI_BASE_URL", b.clone())],
            lists: "openai",
            stored: None,
            first: &[],
            second: &["OPENAI_API_KEY"],
        },
        Scene {
            name: "a named endpoint gets the key of its variable",
            config: format!("{}{entries}", model("provider: box")),
            env: vec![],
            lists: "box",
            stored: None,
            first: &[],
            second: &["BOX_CRED"],
        },
        Scene {
            name: "an entry cannot borrow another provider's key",
            config: format!("{}{entries}", model("provider: thief")),
            env: vec![],
            lists: "thief",
            stored: None,
            first: &[],
            second: &[],
        },
        Scene {
            name: "stored keys go to the addresses that they are stored with",
            config: model("provider: deepseek"),
            env: vec![],
            lists: "zai",
            stored: Some(json!({"deepseek": [one(&a)], "zai": [two(&b)]})),
            first: &["stored one"],
            second: &["stored two"],
        },
        Scene {
            name: "a variable for the address takes no stored key along, and no address the variable's key",
            config: model("provider: deepseek"),
            env: vec![("DEEPSEEK_BASE_URL", a.clone())],
            lists: "deepseek",
            stored: Some(json!({"deepseek": [one(&b)]})),
            first: &[],
            second: &["stored one"],
        },
        Scene {
            name: "a stored key without an address is sent to its provider only",
            config: model(&format!("provider: openrouter, base_url: '{a}'")),
            env: vec![],
            lists: "openrouter",
            stored: Some(json!({"openrouter": [{"id": "x", "access_token": STORED[0].1}, two(&b)]})),
            first: &[],
            second: &[],
        },
        Scene {
            name: "of several stored keys, only those of the address are tried there",
            config: format!("{}{entries}", model("provider: deepseek")),
            env: vec![("DEEPSEEK_BASE_URL", a.clone())],
            lists: "box",
            stored: Some(json!({"deepseek": [one(&a), two(&b)], "custom:box": [one(&a)]})),
            first: &["DEEPSEEK_API_KEY", "stored one"],
            second: &["BOX_CRED"],
        },
    ];
    for scene in scenes {
        let home = TempHome::new();
        home.write_config(&scene.config);
        if let Some(stored) = &scene.stored {
            home.write("auth.json", &json!({"credential_pool": stored}).to_string());
        }
        let listing: &[&str] = &["model", "list", scene.lists, "--json"];
        for command in COMMANDS.into_iter().chain([listing]) {
            let out = run(home.path(), command, &scene.env).await;
            shows_no_key(scene.name, command, &out);
        }
        let want = |keys: &[&'static str]| keys.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(first.keys(), want(scene.first), "{}: the first server", scene.name);
        assert_eq!(second.keys(), want(scene.second), "{}: the second server", scene.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_carry_no_key() {
    let target = Witness::new(None).await;
    let first = Witness::new(Some(format!("{}/chat/completions", target.url()))).await;
    let home = TempHome::new();
    home.write_config("model: {provider: deepseek, default: m}\n");
    let env = [("DEEPSEEK_BASE_URL", first.url())];
    let listing: &[&str] = &["model", "list", "deepseek"];
    for command in COMMANDS.into_iter().chain([listing]) {
        let out = run(home.path(), command, &env).await;
        shows_no_key("redirect", command, &out);
    }
    assert_eq!(first.keys(), BTreeSet::from(["DEEPSEEK_API_KEY"]));
    assert!(!target.was_asked(), "a redirect was followed");
}

fn shows_no_key(scene: &str, command: &[&str], out: &Output) {
    for text in [stdout(out), stderr(out)] {
        for (name, key) in KEYS.iter().chain(&STORED) {
            assert!(!text.contains(key), "{scene}: {command:?} shows {name}: {text}");
        }
    }
}
