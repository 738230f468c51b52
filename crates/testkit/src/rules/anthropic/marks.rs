//! Rules about cache marks.

use super::{Rejection, Rule, is_thinking, list};
use serde_json::Value;

const MOST: usize = 4;

/// Checks the marks in the order in which a cache reads them: tools, system, messages.
pub(super) fn check(body: &Value) -> Result<(), Rejection> {
    let mut found = Marks::default();
    for (place, tool) in list(&body["tools"]).iter().enumerate() {
        found.see(tool, &format!("tools[{place}]"))?;
    }
    found.see_all(list(&body["system"]), "system")?;
    for (place, message) in list(&body["messages"]).iter().enumerate() {
        found.see_all(list(&message["content"]), &format!("messages[{place}].content"))?;
    }
    Ok(())
}

#[derive(Default)]
struct Marks {
    count: usize,
    has_short: bool,
}

impl Marks {
    fn see_all(&mut self, blocks: &[Value], at: &str) -> Result<(), Rejection> {
        for (place, block) in blocks.iter().enumerate() {
            let at = format!("{at}[{place}]");
            self.see(block, &at)?;
            self.see_all(list(&block["content"]), &format!("{at}.content"))?;
        }
        Ok(())
    }

    fn see(&mut self, block: &Value, at: &str) -> Result<(), Rejection> {
        let mark = &block["cache_control"];
        if mark.is_null() {
            return Ok(());
        }
        let broken = |rule| Err(Rejection::new(rule, format!("{at}.cache_control")));
        if is_thinking(block) {
            return broken(Rule::MisplacedMark);
        }
        let is_long = match (mark["type"].as_str(), mark["ttl"].as_str()) {
            (Some("ephemeral"), None | Some("5m")) => false,
            (Some("ephemeral"), Some("1h")) => true,
            _ => return broken(Rule::InvalidMark),
        };
        if is_long && self.has_short {
            return broken(Rule::MarkOrder);
        }
        self.has_short |= !is_long;
        self.count += 1;
        if self.count > MOST {
            return broken(Rule::TooManyMarks);
        }
        Ok(())
    }
}
