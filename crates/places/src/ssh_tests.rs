use super::*;

fn settings() -> SshSettings {
    SshSettings {
        host: "build.example".into(),
        user: "me".into(),
        port: 2222,
        key: "/keys/it's".into(),
        options: vec!["UserKnownHostsFile=/k".into()],
        directory: String::new(),
        temporary: "/nonexistent".into(),
    }
}

#[test]
fn client_has_the_options_of_the_user_first() {
    let ssh = Ssh { settings: settings(), socket: Some("/s/x.sock".into()) };
    let argv = ssh.client(Input::Closed, &words(&["bash", "-c", "echo \"it\""]));
    assert_eq!(
        argv.join(" "),
        "ssh -T -o UserKnownHostsFile=/k -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ConnectTimeout=10 \
         -o ServerAliveInterval=15 -o ServerAliveCountMax=4 -o ForwardAgent=no -o ClearAllForwardings=yes \
         -o PermitLocalCommand=no -o LogLevel=ERROR -o ControlMaster=no -o ControlPath=/s/x.sock -p 2222 -l me \
         -o IdentitiesOnly=yes -i /keys/it's -- build.example exec 'bash' '-c' 'echo \"it\"'"
    );
}

#[test]
fn hostile_names_are_refused() {
    let with = |host: &str, user: &str, port| SshSettings {
        host: host.into(),
        user: user.into(),
        port,
        ..settings()
    };
    for (settings, is_fine) in [
        (with("h", "u", 22), true),
        (with("::1", "u.x-y_z", 22), true),
        (with("", "u", 22), false),
        (with("h", "", 22), false),
        (with("-oProxyCommand=x", "u", 22), false),
        (with("h;x", "u", 22), false),
        (with("h", "-u", 22), false),
        (with("h", "u$x", 22), false),
        (with("h", "u", 0), false),
        (with("h", "u", 70_000), false),
    ] {
        assert_eq!(check(&settings).is_ok(), is_fine, "{settings:?}");
    }
}

#[test]
fn socket_is_named_after_the_machine() {
    let plain = SshSettings { key: String::new(), options: Vec::new(), ..settings() };
    let path = socket(Path::new("/s"), &plain);
    assert_eq!(path, PathBuf::from(format!("/s/{}.sock", digest_of("me@build.example:2222"))));
    assert_ne!(path, socket(Path::new("/s"), &settings()));
}

fn digest_of(text: &str) -> String {
    digest([text], 16)
}
