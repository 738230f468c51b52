//! Facts about a model as text and JSON, each value with its source.

use hermes_conversation::Money;
use hermes_runtime::{Fact, ModelFacts, Prices, Tariff};
use serde_json::{Value, json};

/// A line for each known fact, with a short name.
pub(super) fn lines(facts: &ModelFacts, provider: &str) -> Vec<(&'static str, String)> {
    let mut lines = vec![("window", of(&facts.window, |tokens| format!("{tokens} tokens")))];
    if let Some(most) = &facts.max_output {
        lines.push(("output", of(most, |tokens| format!("at most {tokens} tokens"))));
    }
    let abilities = [
        ("images", &facts.sees_images, "can see images", "cannot see images"),
        ("tools", &facts.uses_tools, "can use tools", "cannot use tools"),
        ("reasoning", &facts.reasons, "can reason", "does not reason"),
    ];
    for (name, ability, yes, no) in abilities {
        let text = |can: bool| if can { yes.to_owned() } else { no.to_owned() };
        lines.extend(ability.as_ref().map(|ability| (name, of(ability, text))));
    }
    lines.push((
        "price",
        match &facts.prices {
            _ if facts.tariff(provider) == Tariff::Included => "included in the subscription".to_owned(),
            Some(prices) => of(prices, |prices| price_text(&prices)),
            None => "unknown; set model.pricing.input and model.pricing.output".to_owned(),
        },
    ));
    lines
}

fn of<T: Copy>(fact: &Fact<T>, text: impl Fn(T) -> String) -> String {
    format!("{}  ({})", text(fact.value), fact.source)
}

/// Dollars for a million tokens.
pub(super) fn price_text(prices: &Prices) -> String {
    let million = |price: Money| price.times(1_000_000);
    let mut text = format!("{} in, {} out", million(prices.input), million(prices.output));
    if let Some(price) = prices.cache_read {
        text.push_str(&format!(", {} cached", million(price)));
    }
    text + " per million tokens"
}

pub(super) fn price_json(prices: &Prices) -> Value {
    let million = |price: Money| price.times(1_000_000).dollars();
    json!({
        "input": million(prices.input), "output": million(prices.output),
        "cache_read": prices.cache_read.map(million), "cache_write": prices.cache_write.map(million),
    })
}

pub(super) fn as_json(facts: &ModelFacts) -> Value {
    fn fact<T: Copy>(fact: &Option<Fact<T>>, value: impl Fn(T) -> Value) -> Value {
        match fact {
            Some(fact) => json!({ "value": value(fact.value), "source": fact.source.as_str() }),
            None => Value::Null,
        }
    }
    json!({
        "context_length": fact(&Some(facts.window), |tokens| json!(tokens)),
        "max_output_tokens": fact(&facts.max_output, |tokens| json!(tokens)),
        "sees_images": fact(&facts.sees_images, |can| json!(can)),
        "uses_tools": fact(&facts.uses_tools, |can| json!(can)),
        "reasons": fact(&facts.reasons, |can| json!(can)),
        "pricing_per_million": fact(&facts.prices, |prices| price_json(&prices)),
    })
}
