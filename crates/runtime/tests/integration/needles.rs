//! Facts of a very long conversation: after many compactions by the lossless engine a model that only has its
//! tools finds every one of them, and every message can be read again.
//!
//! `HERMES_NEEDLE_TOKENS`, `HERMES_NEEDLES` and `HERMES_NEEDLE_WINDOW` make it larger.

use crate::opened::opened;
use hermes_conversation::{SummaryBy, Usage, UserMessage, events};
use hermes_runtime::{Parting, Session};
use hermes_store::OriginalRange;
use hermes_testkit::{FakeProvider, Random, ReplyScript, TempHome};
use hermes_tools::NoUser;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn size(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The text of fact number `n`.
fn fact(n: usize) -> String {
    format!("The colour of drawer{n}x is shade{}.", n * 7_919 % 100_003)
}

/// Looks for a fact as a model would: searches, reads the hits, answers.
fn answer(body: &Value) -> ReplyScript {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let said = last["content"].as_str().unwrap_or_default();
    let reply = match last["role"].as_str() {
        Some("user") => match said.rsplit_once("FIND ") {
            Some((_, name)) => ReplyScript::call("context_search", json!({ "query": name })),
            None => ReplyScript::text("Noted. ".repeat(100)),
        },
        _ => {
            let result: Value = serde_json::from_str(said).unwrap();
            match (result["hits"].as_array(), result["messages"].as_array()) {
                // The newest hit is the question itself.
                (Some(hits), _) => {
                    let ids = hits.iter().filter_map(|hit| hit["message"].as_i64());
                    ReplyScript::call("context_expand", json!({ "message": ids.min().unwrap_or(0) }))
                }
                (None, Some(messages)) => {
                    let text = messages[0]["text"].as_str().unwrap();
                    let at = text.find("The colour of").unwrap_or(0);
                    ReplyScript::text(text[at..].split_inclusive('.').next().unwrap_or_default().to_owned())
                }
                (None, None) => ReplyScript::text(format!("Nothing: {said}")),
            }
        }
    };
    let input = body.to_string().len() as u64 / 4;
    ReplyScript { usage: Some(Usage { input, output: 200, ..Usage::default() }), ..reply }
}

async fn ask(session: &mut Session, words: String) -> String {
    let (sink, mut stream) = events();
    let reading = tokio::spawn(async move { while stream.next().await.is_some() {} });
    let report = session.submit(UserMessage::text(words), &CancellationToken::new(), sink).await.unwrap();
    reading.await.unwrap();
    assert!(report.completed, "{:?}", report.error);
    report.final_response.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fact_is_found() {
    let (tokens, needles) = (size("HERMES_NEEDLE_TOKENS", 60_000), size("HERMES_NEEDLES", 20));
    let window = size("HERMES_NEEDLE_WINDOW", 20_000);
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    provider.answer_with(answer);
    home.write_config(&format!(
        "model: {{provider: custom, base_url: '{}', default: m, context_length: {window}}}\n\
         compression: {{threshold: 0.5}}\ncontext: {{engine: lossless, lossless: {{extractive: true}}}}\n\
         auxiliary: {{title_generation: {{enabled: false}}}}\n",
        provider.base_url(),
    ));
    let runtime = opened(home.path(), home.path());
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    let per_turn = 1_700;
    let turns = (tokens / per_turn).max(needles);
    let mut dice = Random::new(5);
    // Every fact is in a turn of its own, somewhere in the text.
    let mut told_in: Vec<usize> = (0..turns).collect();
    for place in 0..needles {
        let other = place + dice.below(turns - place);
        told_in.swap(place, other);
    }
    for turn in 0..turns {
        let filler = format!("Report {turn}: nothing new about the weather and the trains. ").repeat(95);
        let words = match told_in[..needles].iter().position(|place| *place == turn) {
            Some(n) => {
                let at = filler.floor_char_boundary(dice.below(filler.len()));
                format!("{} {} {}", &filler[..at], fact(n), &filler[at..])
            }
            None => filler,
        };
        ask(&mut session, words).await;
    }
    for n in 0..needles {
        let found = ask(&mut session, format!("FIND drawer{n}x")).await;
        assert_eq!(found, fact(n));
    }
    let store = runtime.store().unwrap();
    let (id, all) = (session.id().clone(), store.compactions(session.id()).await.unwrap());
    // A large window is set to have few compactions.
    let least = if window == 20_000 { 4 } else { 1 };
    assert!(all.len() >= least, "{} compactions", all.len());
    assert!(all.iter().all(|one| one.report.by == SummaryBy::Excerpts), "no model was asked for a summary");
    assert!(
        provider.bodies().iter().all(|body| !body["tools"].is_null()),
        "no model was asked for a summary"
    );
    // Every message outside the context window is covered by a leaf.
    let nodes = store.nodes(&id).await.unwrap();
    let said = store.originals(&id, OriginalRange::ALL, None, usize::MAX).await.unwrap();
    let leaves: Vec<_> = nodes.iter().filter(|node| node.level == 0).collect();
    let newest = leaves.iter().map(|leaf| leaf.last).max().unwrap();
    for message in said.iter().filter(|message| message.id <= newest) {
        let covering = leaves.iter().filter(|leaf| leaf.first <= message.id && message.id <= leaf.last);
        assert_eq!(covering.count(), 1, "message {}", message.id);
    }
    println!(
        "{needles} of {needles} facts found in {turns} turns, {} messages, window {window}, {} compactions, {} summaries",
        said.len(),
        all.len(),
        nodes.len()
    );
    session.close(Parting::Left).await;
    runtime.leave().await;
}
