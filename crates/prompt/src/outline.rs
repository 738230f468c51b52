//! Finds the layers of a stored prompt, for display layer by layer.

use crate::layers::{BETWEEN, Layers, Tier};
use serde::{Deserialize, Serialize};

/// A layer of a prompt that is stored elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlinedLayer {
    pub name: String,
    pub tier: Tier,
    pub source: Option<String>,
    pub bytes: usize,
}

/// A layer with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownLayer {
    pub layer: OutlinedLayer,
    pub text: String,
}

impl Layers {
    /// The layers of the prompt that these make.
    pub fn outline(&self) -> Vec<OutlinedLayer> {
        self.shown().into_iter().map(|shown| shown.layer).collect()
    }

    /// The same, with their texts.
    pub fn shown(&self) -> Vec<ShownLayer> {
        let all = self.all().into_iter().map(|layer| ShownLayer {
            layer: OutlinedLayer {
                name: layer.name.to_owned(),
                tier: layer.tier,
                source: layer.source,
                bytes: layer.text.len(),
            },
            text: layer.text,
        });
        all.collect()
    }
}

/// Takes a prompt apart; `None` if it is not the one that was outlined.
pub fn taken_apart(prompt: &str, outline: &[OutlinedLayer]) -> Option<Vec<ShownLayer>> {
    let mut rest = prompt;
    let mut all = Vec::with_capacity(outline.len());
    for (place, layer) in outline.iter().enumerate() {
        if place > 0 {
            rest = rest.strip_prefix(BETWEEN)?;
        }
        let (text, after) = rest.split_at_checked(layer.bytes)?;
        all.push(ShownLayer { layer: layer.clone(), text: text.to_owned() });
        rest = after;
    }
    rest.is_empty().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemPrompt;

    #[test]
    fn a_prompt_is_taken_apart_as_it_was_put_together() {
        let mut layers = Layers {
            tools: vec!["terminal".into()],
            os: "Linux".into(),
            cwd: "/ü".into(),
            platform: "cli".into(),
            system_message: Some("one\n\ntwo".into()),
            ..Layers::default()
        };
        layers.describe_tools(&hermes_tools::KnownTools);
        let prompt = SystemPrompt::assemble(&layers).into_string();
        assert_eq!(taken_apart(&prompt, &layers.outline()), Some(layers.shown()));
        assert_eq!(taken_apart(&format!("{prompt}."), &layers.outline()), None);
        assert_eq!(taken_apart("ü", &layers.outline()), None);
        assert_eq!(taken_apart("", &[]), Some(vec![]));
    }
}
