//! The check that some model sees images.

use hermes_config::home::Home;
use hermes_models::{load_config, model_choice, model_facts};
use hermes_providers::{ListedModel, Stated};
use hermes_vision::vision_problem;

const OWN: &str = "model: {provider: deepseek, default: m}\n";

/// The problem with these settings, where the conversation's model is known to see images, or not to.
fn problem(settings: &str, sees_images: Option<bool>, key: Option<&str>) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("home"));
    home.ensure().unwrap();
    std::fs::write(home.config_file(), settings).unwrap();
    let keys = [Some("DEEPSEEK_API_KEY"), key].into_iter().flatten();
    let shell = keys.map(|key| (key.to_owned(), "a-key".to_owned())).collect();
    let config = load_config(&home, Vec::new(), shell).unwrap();
    if let Ok(own) = model_choice::endpoint(&config) {
        let stated = Stated { sees_images, ..Stated::default() };
        let models = ["m", "other"].map(|id| ListedModel { id: id.to_owned(), stated });
        model_facts::keep(&home, &own.origin(), &models);
    }
    vision_problem(&config, &home).unwrap()
}

#[test]
fn tool_is_missing_where_every_model_is_known_not_to_see() {
    let other = "auxiliary: {vision: {provider: deepseek, model: other}}\n";
    let main = "auxiliary: {vision: {provider: main, model: other}}\n";
    for (settings, sees_images, key, is_missing) in [
        (OWN.to_owned(), Some(false), None, true),
        (OWN.to_owned(), Some(true), None, false),
        // It may see them; trying tells.
        (OWN.to_owned(), None, None, false),
        (OWN.to_owned(), Some(false), Some("OPENROUTER_API_KEY"), false),
        // The user chose a model for images.
        (format!("{OWN}{other}"), Some(false), None, false),
        (format!("{OWN}{main}"), Some(false), None, false),
        (format!("{OWN}auxiliary: {{vision: {{provider: nonsense}}}}\n"), Some(false), None, true),
        // No session can start without a model.
        (String::new(), Some(false), None, false),
    ] {
        let problem = problem(&settings, sees_images, key);
        assert_eq!(problem.is_some(), is_missing, "{settings} {sees_images:?} {key:?}: {problem:?}");
        let next_step = "set auxiliary.vision.provider and auxiliary.vision.model, or OPENROUTER_API_KEY";
        assert!(problem.is_none_or(|problem| problem.contains(next_step)));
    }
}
