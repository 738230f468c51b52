use super::*;

fn settings() -> ContainerSettings {
    ContainerSettings {
        engine: Engine { program: "docker".into() },
        image: "img:1".into(),
        volumes: Vec::new(),
        workspace: None,
        has_network: true,
        runs_as_host_user: false,
        extra_args: Vec::new(),
        cpu: 1,
        memory: 5120,
        disk: 51_200,
        persistent: None,
        lifetime: 300,
        profile: "my home".into(),
        task: "default".into(),
        directory: String::new(),
    }
}

#[test]
fn container_has_few_capabilities_and_limits() {
    let argv = run_arguments(&settings(), "hermes-1", Quota::Set).join(" ");
    assert!(
        argv.starts_with(
            "run -d --init --name hermes-1 --label hermes-agent=1 --label hermes-task-id=default \
             --label hermes-profile=my_home --cap-drop ALL --cap-add DAC_OVERRIDE --cap-add CHOWN --cap-add FOWNER \
             --cap-add SETUID --cap-add SETGID --security-opt no-new-privileges --pids-limit 256 \
             --tmpfs /tmp:rw,nosuid,size=512m --tmpfs /var/tmp:rw,noexec,nosuid,size=256m \
             --tmpfs /run:rw,noexec,nosuid,size=64m --cpus 1 --memory 5120m --storage-opt size=51200m \
             --tmpfs /root:rw,exec,mode=1777 --tmpfs /workspace:rw,exec,mode=1777 \
             --workdir /workspace --entrypoint bash img:1 -c trap"
        ),
        "{argv}"
    );
}

#[test]
fn settings_become_options() {
    let changed = |change: fn(&mut ContainerSettings)| {
        let mut settings = settings();
        change(&mut settings);
        run_arguments(&settings, "n", Quota::Unset).join(" ")
    };
    for (argv, want, unwanted) in [
        (changed(|s| s.has_network = false), "--network none", "--storage-opt"),
        (changed(|s| s.cpu = 0), "--memory", "--cpus"),
        (changed(|s| s.memory = 0), "--cpus", "--memory"),
        (changed(|s| s.runs_as_host_user = true), "--user ", "SETUID"),
        (changed(|s| s.volumes = vec!["/a:/b:ro".into()]), "--volume /a:/b:ro", "--network"),
        (changed(|s| s.workspace = Some("/w".into())), "--volume /w:/workspace", "--tmpfs /workspace"),
        (
            changed(|s| s.persistent = Some("/p".into())),
            "--volume /p/home:/root --volume /p/workspace:/workspace",
            "--tmpfs /root",
        ),
        (changed(|s| s.extra_args = vec!["--x".into(), "y z".into()]), "--x y z --workdir", "--network"),
        (changed(|s| s.lifetime = 0), "sleep 3600", "mapfile"),
    ] {
        assert!(argv.contains(want) && !argv.contains(unwanted), "{want} and not {unwanted}: {argv}");
    }
}

#[test]
fn same_settings_mean_the_same_container() {
    let name = |settings| Container::new(settings).name;
    let one = name(settings());
    assert!(one.starts_with("hermes-") && one.len() == 15, "{one}");
    assert_eq!(one, name(settings()));
    for other in [
        ContainerSettings { image: "img:2".into(), ..settings() },
        ContainerSettings { task: "t".into(), ..settings() },
        ContainerSettings { profile: "p".into(), ..settings() },
        ContainerSettings { volumes: vec!["/a:/b".into()], ..settings() },
    ] {
        assert_ne!(one, name(other));
    }
}

#[test]
fn mounted_paths_open_a_container() {
    for (settings, is_isolated) in [
        (settings(), true),
        (ContainerSettings { persistent: Some("/p".into()), ..settings() }, true),
        (ContainerSettings { volumes: vec!["/a:/b".into()], ..settings() }, false),
        (ContainerSettings { workspace: Some("/a".into()), ..settings() }, false),
        (ContainerSettings { extra_args: vec!["--privileged".into()], ..settings() }, false),
        (ContainerSettings { extra_args: vec!["--ulimit=nofile=1".into()], ..settings() }, true),
    ] {
        assert_eq!(Container::new(settings.clone()).isolation().is_isolated(), is_isolated, "{settings:?}");
    }
}

#[test]
fn first_program_is_valid() {
    for lifetime in [0, 1, 300] {
        let status =
            std::process::Command::new("bash").args(["-n", "-c", &waiting(lifetime)]).status().unwrap();
        assert!(status.success(), "{lifetime}");
    }
}

#[test]
fn advice_fits_the_failure() {
    let container = Container::new(settings());
    for (said, want) in [
        ("error setting rlimit type 7: operation not permitted", "docker_extra_args"),
        ("exec: \"bash\": executable file not found in $PATH", "with bash in it"),
        ("Cannot connect to the Docker daemon", "`docker ps` works"),
    ] {
        assert!(container.advice(said).contains(want), "{said}");
    }
}

#[test]
fn client_passes_variables_by_name() {
    let container = Container::new(settings());
    let terminal = Input::Terminal(hermes_exec::TerminalSize { rows: 1, columns: 1 });
    let argv = container.client(terminal, &words(&["bash"]), &["TOKEN"]);
    assert_eq!(argv, words(&["docker", "exec", "-it", "-e", "TOKEN", &container.name, "bash"]));
    assert_eq!(container.client(Input::Pipe, &[], &[]), words(&["docker", "exec", "-i", &container.name]));
}
