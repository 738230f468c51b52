use super::*;
use hermes_config::Config;
use hermes_testkit::TempHome;

#[test]
fn settings_are_read_into_the_compressor() {
    let read = |text: &str| Choice::Compressor.settings(&Config::parse(text).unwrap(), "p", "m").unwrap();
    let usual = CompressorSettings { model: "p/m".into(), ..CompressorSettings::default() };
    assert_eq!(read(""), EngineSettings::Compressor(usual.clone()));
    let want = CompressorSettings { enabled: false, threshold: Some(0.5), protect_last_n: Some(20), ..usual };
    let text = "compression: {enabled: false, threshold: 0.5, protect_last_n: 20}\n";
    assert_eq!(read(text), EngineSettings::Compressor(want));
}

#[test]
fn named_plugin_precedes_built_in_engine() {
    let home = TempHome::new();
    let here = Home::at(home.path());
    let chosen = |name: &str| {
        let (choice, warning) =
            choose(&Config::parse(&format!("context: {{engine: '{name}'}}\n")).unwrap(), &here).unwrap();
        let plugin = match choice {
            Choice::Plugin(plugin) => Some(plugin.name),
            Choice::Lossless => Some("(lossless)".to_owned()),
            Choice::Compressor => None,
        };
        (plugin, warning)
    };
    // Without plugins.
    assert_eq!(chosen("compressor"), (None, None));
    assert_eq!(chosen(""), (None, None));
    for name in ["nosuch", "../compressor", "a/b", ".."] {
        let (plugin, warning) = chosen(name);
        let warning = warning.unwrap();
        assert_eq!(plugin, None);
        assert!(warning.contains(&format!("`{name}`")) && warning.contains("compressor"), "{warning}");
    }
    // `lcm` is an alias, unless a plugin has this name.
    for name in ["lossless", "lcm"] {
        assert_eq!(chosen(name), (Some("(lossless)".into()), None));
    }
    let broken = "not: a manifest\n";
    let fine = "command: [python3, engine.py]\n";
    for name in ["mine", "compressor", "lcm"] {
        home.write(format!("plugins/context_engine/{name}/engine.yaml"), fine);
    }
    home.write("plugins/context_engine/broken/engine.yaml", broken);
    assert_eq!(chosen("mine"), (Some("mine".into()), None));
    // The plugin replaces the alias.
    assert_eq!(chosen("lcm"), (Some("lcm".into()), None));
    // The default is always built in, and other plugins are not read.
    assert_eq!(chosen("compressor"), (None, None));
    assert_eq!(chosen(""), (None, None));
    let (plugin, warning) = chosen("broken");
    let warning = warning.unwrap();
    assert_eq!(plugin, None);
    assert!(warning.contains("broken/engine.yaml") && warning.contains("using `compressor`"), "{warning}");
    let (_, warning) = chosen("nosuch");
    assert!(warning.unwrap().contains("known: compressor, lossless, broken, lcm, mine"));
}
