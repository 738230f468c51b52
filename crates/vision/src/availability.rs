//! The check that some model sees images.

use hermes_config::home::Home;
use hermes_config::{AuxProvider, Config};
use hermes_conversation::AuxTask;
use hermes_models::{ModelsError, auxiliary_route, model_choice, model_facts};
use hermes_providers::Endpoint;

/// The sentence for the user and the model when no model sees images.
pub(crate) const NO_MODEL: &str = "no model that sees images is set up; set auxiliary.vision.provider and \
                                   auxiliary.vision.model, or OPENROUTER_API_KEY";

/// Returns the reason why no model can look at images, if so. A model of which it is unknown may be asked.
pub fn vision_problem(config: &Config, home: &Home) -> Result<Option<String>, ModelsError> {
    // No session can start without its own model, so a vision model is not needed either.
    let Ok(own) = model_choice::endpoint(config) else { return Ok(None) };
    let sees = |endpoint: &Endpoint| model_facts::known(home, endpoint).sees_images.map(|fact| fact.value);
    let settings = config.settings.auxiliary.task(AuxTask::Vision)?;
    if sees(&own) != Some(false) && matches!(settings.provider, AuxProvider::Auto | AuxProvider::Main) {
        return Ok(None);
    }
    let route = auxiliary_route(config, AuxTask::Vision, &own, sees)?;
    Ok(route.stops.is_empty().then(|| NO_MODEL.to_owned()))
}
