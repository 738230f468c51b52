use super::*;

fn support(abi: Result<u32, &str>, seccomp: bool, namespaces: bool) -> Support {
    let refused = |is: bool, why: &str| if is { Ok(()) } else { Err(why.to_owned()) };
    Support {
        landlock: abi.map_err(str::to_owned),
        seccomp: refused(seccomp, "filters are refused"),
        mounts: refused(namespaces, "AppArmor restricts them"),
        network: refused(namespaces, "AppArmor restricts them"),
    }
}

#[test]
fn summary_is_one_line_that_names_what_is_missing() {
    let on = Policy::default();
    let off = Policy { network: Network::Off, ..Policy::default() };
    for (policy, support, want) in [
        (
            &on,
            support(Ok(7), true, true),
            "sandbox workspace: files, signals, devices enforced; network open",
        ),
        (&off, support(Ok(7), true, true), "sandbox workspace: files, network, signals, devices enforced"),
        (
            &on,
            support(Ok(7), true, false),
            "sandbox workspace: files, signals, devices enforced; network open; git settings, pathname sockets \
             and modes of files not protected (no mount namespaces: AppArmor restricts them)",
        ),
        (
            &on,
            support(Ok(2), true, true),
            "sandbox workspace: files, devices enforced; network open; signals not enforced (Landlock 2 is older \
             than 6)",
        ),
        (
            &off,
            support(Err("the kernel has no Landlock"), true, false),
            "sandbox workspace: network enforced; files not enforced (the kernel has no Landlock); signals not \
             enforced (the kernel has no Landlock); devices partly enforced (the kernel has no Landlock); git \
             settings, pathname sockets and modes of files not protected (no mount namespaces: AppArmor restricts \
             them)",
        ),
    ] {
        assert_eq!(enforced(policy, &support).summary(), want);
    }
    let full = Policy { profile: Profile::Full, ..Policy::default() };
    let summary = enforced(&full, &support(Ok(7), true, true)).summary();
    assert_eq!(summary, "sandbox full: commands are not confined");
}

#[test]
fn missing_layer_is_refused_if_it_is_required_or_the_network() {
    let required = Policy { require: true, ..Policy::default() };
    let some = Policy { network: Network::Allow(vec!["a.org".into()]), ..Policy::default() };
    let off = Policy { network: Network::Off, ..Policy::default() };
    for (policy, support, layer) in [
        (&required, support(Ok(7), true, true), None),
        (&required, support(Ok(7), true, false), Some("namespaces")),
        (&required, support(Ok(5), true, true), Some("signals")),
        (&required, support(Err("none"), true, true), Some("files")),
        (&required, support(Ok(7), false, true), Some("devices")),
        (&some, support(Ok(7), true, false), Some("network")),
        (&off, support(Ok(7), true, false), None),
        (&off, support(Ok(7), false, false), Some("network")),
    ] {
        let refused = enforced(policy, &support).check(policy).err().map(|error| match error {
            SandboxError::LayerMissing { layer, .. } => layer,
            other => panic!("{other}"),
        });
        assert_eq!(refused, layer, "{support:?}");
    }
}
