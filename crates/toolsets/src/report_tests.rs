use super::*;
use crate::{Machine, Offers, disable, enable};
use hermes_config::Config;
use hermes_config::home::Home;
use hermes_models::load_config;
use hermes_tools::WEB_SEARCH;
use std::collections::BTreeMap;

/// A home directory with settings, and a PATH with or without Python.
struct Desk {
    dir: tempfile::TempDir,
    home: Home,
    shell: BTreeMap<String, String>,
}

impl Desk {
    fn new(settings: &str, has_python: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        if has_python {
            std::fs::write(bin.join("python3"), "#!/bin/sh\n").unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(bin.join("python3"), mode).unwrap();
        }
        let home = Home::at(dir.path().join("home"));
        home.ensure().unwrap();
        std::fs::write(home.config_file(), settings).unwrap();
        let shell = BTreeMap::from([("PATH".to_owned(), bin.display().to_string())]);
        Self { dir, home, shell }
    }

    fn config(&self) -> Config {
        load_config(&self.home, Vec::new(), self.shell.clone()).unwrap()
    }

    fn report(&self, platform: &str) -> PlatformReport {
        let config = self.config();
        report(Machine { config: &config, home: &self.home, shell: &self.shell }, platform).unwrap()
    }

    fn offered(&self, platform: &str) -> Vec<String> {
        let config = self.config();
        let machine = Machine { config: &config, home: &self.home, shell: &self.shell };
        let offered = Offers::default().of(machine, platform).unwrap();
        offered.registry.all_names().into_iter().map(str::to_owned).collect()
    }
}

fn state(report: &PlatformReport, name: &str) -> ToolsetState {
    report.toolsets.iter().find(|row| row.name == name).unwrap().state
}

#[test]
fn rows_tell_what_is_on_off_missing_and_not_built_in() {
    let settings = "agent: {disabled_toolsets: [todo]}\nweb: {search_backend: tavily}\n\
                    memory: {memory_enabled: false, user_profile_enabled: false}\n";
    let desk = Desk::new(settings, false);
    let report = desk.report("cli");
    for (name, want) in [
        ("terminal", ToolsetState::On),
        ("web", ToolsetState::On),
        ("code_execution", ToolsetState::Unavailable),
        ("memory", ToolsetState::Unavailable),
        ("todo", ToolsetState::Disabled),
        ("browser", ToolsetState::NotBuiltIn),
        ("context_engine", ToolsetState::NotBuiltIn),
        ("spotify", ToolsetState::NotBuiltIn),
    ] {
        assert_eq!(state(&report, name), want, "{name}");
    }
    let web = report.toolsets.iter().find(|row| row.name == "web").unwrap();
    assert!(web.missing[0].contains("TAVILY_API_KEY"), "{:?}", web.missing);
    let offered: Vec<_> =
        web.tools.iter().filter(|tool| tool.is_offered).map(|tool| &tool.name[..]).collect();
    assert_eq!(offered, ["web_extract"]);
    let browser = report.toolsets.iter().find(|row| row.name == "browser").unwrap();
    assert_eq!(browser.tools.len(), 12, "without web_search, which belongs to web: {:?}", browser.tools);
}

#[test]
fn sessions_have_what_the_report_says() {
    for (settings, has_python) in [
        ("", true),
        ("", false),
        ("platform_toolsets: {cli: [file, web]}\n", true),
        ("web: {search_backend: exa}\ntoolsets: [web, terminal]\n", true),
        ("agent: {disabled_toolsets: [skills, web]}\ncontext: {engine: lossless}\n", true),
    ] {
        let desk = Desk::new(settings, has_python);
        let report = desk.report("cli");
        let tools = report.toolsets.iter().flat_map(|row| &row.tools);
        let mut want: Vec<_> = tools.filter(|tool| tool.is_offered).map(|tool| tool.name.clone()).collect();
        let mut found = desk.offered("cli");
        want.sort();
        found.sort();
        assert_eq!(found, want, "{settings}");
    }
}

#[test]
fn switching_writes_the_list_of_the_platform_and_keeps_comments() {
    let desk = Desk::new("# mine\ntoolsets: [hermes-cli] # all\n", true);
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let change = disable(&desk.config(), &desk.home, "cli", &names(&["web", "x_search"])).unwrap();
    assert_eq!(change.key, "platform_toolsets.cli");
    assert_eq!(change.unchanged, ["x_search"]);
    assert_eq!(state(&desk.report("cli"), "web"), ToolsetState::Off);
    assert!(!desk.offered("cli").iter().any(|tool| tool == WEB_SEARCH));
    assert!(
        desk.offered("telegram").iter().any(|tool| tool == WEB_SEARCH),
        "other platforms are not changed"
    );
    let text = std::fs::read_to_string(desk.home.config_file()).unwrap();
    assert!(text.starts_with("# mine\ntoolsets: [hermes-cli] # all\n"), "{text}");
    enable(&desk.config(), &desk.home, "cli", &names(&["web"])).unwrap();
    assert_eq!(state(&desk.report("cli"), "web"), ToolsetState::On);
    let all: Vec<String> = CONFIGURABLE.iter().map(|row| row.name.to_owned()).collect();
    disable(&desk.config(), &desk.home, "cli", &all).unwrap();
    assert_eq!(desk.offered("cli"), Vec::<String>::new());
    assert!(desk.dir.path().exists());
}

#[test]
fn lists_of_the_python_release_may_name_its_plugins() {
    let desk = Desk::new("platform_toolsets: {cli: [file, my_plugin, mcp-github]}\n", true);
    assert_eq!(desk.report("cli").unknown, ["my_plugin", "mcp-github"]);
    assert_eq!(desk.offered("cli"), ["patch", "read_file", "search_files", "write_file"]);
    let wrong = Desk::new("toolsets: [flie]\n", true);
    let config = wrong.config();
    let machine = Machine { config: &config, home: &wrong.home, shell: &wrong.shell };
    let error = Offers::default().of(machine, "cli").err().unwrap().to_string();
    assert!(error.starts_with("no toolset is called `flie`"), "{error}");
}

#[test]
fn sessions_of_a_platform_share_a_registry_while_nothing_changes() {
    let desk = Desk::new("", true);
    let config = desk.config();
    let machine = Machine { config: &config, home: &desk.home, shell: &desk.shell };
    let offers = Offers::default();
    let first = offers.of(machine, "cli").unwrap();
    let second = offers.of(machine, "cli").unwrap();
    assert!(std::sync::Arc::ptr_eq(&first.registry, &second.registry));
    let webhook = offers.of(machine, "webhook").unwrap();
    assert_eq!(webhook.registry.all_names(), ["clarify", "vision_analyze", "web_extract", "web_search"]);
}
