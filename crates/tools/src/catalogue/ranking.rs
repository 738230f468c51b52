//! Ranks tools for a query: by the terms in their names, descriptions and parameters, where a rare term has
//! more weight than a common one.

use hermes_conversation::ToolDefinition;
use serde_json::Value;
use std::collections::HashMap;

/// A word of the name counts as much as so many in the text.
const NAME: usize = 4;
/// The saturation of repeated terms.
const ENOUGH: f64 = 1.5;

/// The best matches, best first; tools that share no term with the query are omitted. A query without terms
/// gets the first ones.
pub(super) fn ranked<'a>(tools: &'a [ToolDefinition], query: &str, limit: usize) -> Vec<&'a ToolDefinition> {
    let wanted = words(query);
    if wanted.is_empty() {
        return tools.iter().take(limit).collect();
    }
    let counts: Vec<HashMap<String, usize>> = tools.iter().map(counted).collect();
    let rarity = |word: &str| {
        let having = counts.iter().filter(|count| count.contains_key(word)).count() as f64;
        (1.0 + (tools.len() as f64 - having + 0.5) / (having + 0.5)).ln()
    };
    let mut scored: Vec<(f64, &ToolDefinition)> = tools
        .iter()
        .zip(&counts)
        .map(|(tool, count)| {
            let score = wanted.iter().map(|word| {
                let often = count.get(word).copied().unwrap_or_default() as f64;
                rarity(word) * often * (ENOUGH + 1.0) / (often + ENOUGH)
            });
            (score.sum(), tool)
        })
        .filter(|(score, _)| *score > 0.0)
        .collect();
    // Equal scores stay in the order of names.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(limit).map(|(_, tool)| tool).collect()
}

fn counted(tool: &ToolDefinition) -> HashMap<String, usize> {
    let mut count = HashMap::new();
    let mut add = |text: &str, times: usize| {
        for word in words(text) {
            *count.entry(word).or_default() += times;
        }
    };
    add(&tool.name, NAME);
    add(&tool.description, 1);
    let parameters: Option<Value> = serde_json::from_str(tool.parameters.as_str()).ok();
    if let Some(Value::Object(properties)) = parameters.as_ref().and_then(|schema| schema.get("properties")) {
        properties.keys().for_each(|name| add(name, 1));
    }
    count
}

/// Lower-case terms; names are split at underscores and capitals, plurals lose their `s`.
fn words(text: &str) -> Vec<String> {
    let mut apart = String::new();
    let mut after_lower = false;
    for character in text.chars() {
        if character.is_uppercase() && after_lower {
            apart.push(' ');
        }
        after_lower = character.is_lowercase();
        apart.extend(character.to_lowercase());
    }
    let words = apart.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word).to_owned())
        .collect()
}
