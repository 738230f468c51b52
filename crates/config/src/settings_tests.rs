//! Typed settings: values, sources and problems.

use crate::layers::{Config, Source};
use crate::settings::reader::Reader;
use crate::settings::{AgentSettings, ApprovalMode, AutoSwitch, ModelSettings, Settings};
use crate::testing::config_of;
use crate::{ConfigFile, Fallback, KEYS, Key, Kind, Layers};
use scratch::ScratchSettings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One key of each kind, changed from its default.
const CHANGED: &str = "\
model: {default: m, api_key: hush, pricing: {input: 2.50}}
agent: {max_turns: 5, verify_on_stop: yes, disabled_toolsets: [web]}
compression: {threshold: 50%}
approvals: {mode: off}
display: {show_reasoning: false}
toolsets: [file]
";

#[test]
fn fields_hold_values_of_their_types() {
    let settings = config_of(CHANGED).settings;
    assert_eq!(settings.model.default.get().unwrap().as_deref(), Some("m"));
    assert_eq!(settings.model.provider.get().unwrap(), "auto");
    assert_eq!(settings.model.pricing.input.value().unwrap().unwrap().dollars(), 2.5);
    assert_eq!(settings.agent.max_turns.value().unwrap(), 5);
    assert_eq!(settings.agent.verify_on_stop.value().unwrap(), AutoSwitch::On);
    assert_eq!(settings.agent.disabled_toolsets.get().unwrap(), &["web"]);
    assert_eq!(settings.compression.threshold.value().unwrap(), Some(0.5));
    assert_eq!(settings.compression.target_ratio.value().unwrap(), None);
    assert_eq!(settings.approvals.mode.value().unwrap(), ApprovalMode::Off);
    assert!(!settings.display.show_reasoning.value().unwrap());
    assert_eq!(settings.toolsets.get().unwrap(), &["file"]);
    assert_eq!(
        (settings.toolsets.source(), settings.model.provider.source()),
        (Source::File, Source::Default)
    );
}

#[test]
fn a_short_form_of_the_model_is_read() {
    let settings = config_of("model: some/name\n").settings;
    assert_eq!(settings.model.default.get().unwrap().as_deref(), Some("some/name"));
}

#[test]
fn a_wrong_value_is_an_error_of_its_field_only() {
    let config = config_of("agent: {max_turns: many, api_max_retries: 7}\nterminal: {timeout: [1]}\n");
    let agent = &config.settings.agent;
    assert_eq!(
        agent.max_turns.get().unwrap_err().to_string(),
        "`agent.max_turns` must be a whole number, 0 or more, but config.yaml line 1 has `many`"
    );
    assert_eq!((*agent.max_turns.or_default(), agent.api_max_retries.value().unwrap()), (90, 7));
    let problems: Vec<_> = config.check().iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[1].starts_with("`terminal.timeout` must be"), "{problems:?}");
}

#[test]
fn typed_values_equal_the_values_that_config_get_prints() {
    let shell = BTreeMap::from([("HERMES_MAX_ITERATIONS".to_owned(), "7".to_owned())]);
    let config = Config::new(Layers { shell, ..Layers::default() });
    let found = config.explain(AgentSettings::max_turns.name).unwrap();
    let max_turns = &config.settings.agent.max_turns;
    assert_eq!(found.value, Some(max_turns.value().unwrap().to_string()));
    assert_eq!((found.source, found.origin), (max_turns.source(), config.origin(max_turns)));
}

#[test]
fn the_table_of_keys_has_a_row_for_each_field() {
    assert_eq!(KEYS.len(), Settings::COUNT);
    let Key { name, kind, default, description, .. } = AgentSettings::max_turns;
    assert_eq!(
        (name, kind, default, description),
        ("agent.max_turns", Kind::Integer, Fallback::Integer(90), "maximum model calls per turn")
    );
    assert_eq!(KEYS[0].name, ModelSettings::default.name);
    assert!(KEYS.iter().any(|key| key.name == "toolsets"));
}

#[allow(unreachable_pub, reason = "the macro declares public items")]
mod scratch {
    use crate::keys::Env::Value;
    use crate::settings::declare::section;
    use crate::settings::types::Text;

    section! {
        /// A section that only this test has.
        ScratchSettings in [scratch.pad] {
            /// number of pages
            pages: u64 = 4, env: &[Value("SCRATCH_PAGES")];
            /// colour of the cover
            colour: Text;
        }
    }
}

#[test]
fn a_new_setting_is_one_declaration() {
    let file = ConfigFile::parse(Path::new("config.yaml"), "scratch: {pad: {colour: [1]}}\n".into()).unwrap();
    let shell = BTreeMap::from([("SCRATCH_PAGES".to_owned(), "9".to_owned())]);
    let layers = Layers { file, shell, ..Layers::default() };
    let mut reader = Reader { layers: &layers, problems: Vec::new() };
    let fields = layers.file.get("scratch.pad").and_then(|section| section.as_object());
    let scratch = ScratchSettings::read(&mut reader, fields);
    assert_eq!((scratch.pages.value().unwrap(), scratch.pages.source()), (9, Source::Shell));
    assert!(scratch.colour.get().is_err() && scratch.colour.or_default().is_none());
    let problems: Vec<_> = reader.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["`scratch.pad.colour` must be text, but config.yaml line 1 has a list"]);
    let rows = ScratchSettings::KEYS.map(|key| (key.name, key.kind, key.default, key.description));
    assert_eq!(
        rows,
        [
            ("scratch.pad.pages", Kind::Integer, Fallback::Integer(4), "number of pages"),
            ("scratch.pad.colour", Kind::Text, Fallback::None, "colour of the cover"),
        ]
    );
}

/// Code outside of this crate reads fields, so that a mistyped key does not compile.
#[test]
fn no_crate_above_names_a_setting_by_a_string() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in ["cli", "memory", "models", "plugins", "runtime", "telemetry", "terminal"] {
        source_files(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for key in KEYS.iter().filter(|key| key.name.contains('.')) {
            assert!(!code.contains(&format!("\"{}\"", key.name)), "{} in {}", key.name, path.display());
        }
    }
}

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match () {
            () if path.is_dir() => source_files(&path, found),
            () if name.ends_with(".rs") && !name.ends_with("_tests.rs") => found.push(path),
            () => {}
        }
    }
}
