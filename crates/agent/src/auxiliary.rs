//! Asks a model for a small job beside the conversation.
//!
//! Trying again, trying another key and trying another model are three budgets, as in a turn. A
//! model that is out of reach or out of money is left alone for a while, for all jobs.

use crate::output_cap;
use crate::recovery::is_about_the_key;
use futures::StreamExt;
use hermes_conversation::{AuxRequest, AuxTask, Cost, FinishReason, Message};
use hermes_wire::{
    Encoder, Failure, Fault, FaultClass, Model, ModelEvent, ModelRequest, Reply, RequestSettings,
    TimeoutPhase, classify,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The cooldown of a model that failed an auxiliary task.
const COOLDOWN: Duration = Duration::from_secs(600);

/// Times that another key is looked for, per model. The keys run out before this does.
const KEYS: u32 = 32;

/// The limits of one auxiliary task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuxLimits {
    /// For one answer.
    pub time: Duration,
    /// Tries after the first, at a model that may recover at once.
    pub retries: u32,
    /// The wait before the first of them; it doubles.
    pub backoff: Duration,
}

impl AuxLimits {
    pub fn of(task: AuxTask) -> Self {
        Self {
            time: Duration::from_secs(task.default_seconds()),
            retries: 2,
            backoff: Duration::from_secs(1),
        }
    }
}

/// Models that are left alone for now, by provider and origin.
#[derive(Debug, Default)]
pub struct Cooldowns(Mutex<HashMap<(String, String), Instant>>);

impl Cooldowns {
    fn covers(&self, model: &dyn Model) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&place(model)).is_some_and(|until| Instant::now() < *until)
    }

    fn begin(&self, model: &dyn Model) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(place(model), Instant::now() + COOLDOWN);
    }
}

fn place(model: &dyn Model) -> (String, String) {
    let issuer = &model.profile().issuer;
    (issuer.provider.clone(), issuer.origin.clone())
}

/// The reaction to a model that failed an auxiliary task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuxStep {
    /// The same again, after this.
    Again(Duration),
    /// Another model; the failed one rests if `rests`.
    Next { rests: bool },
    /// No other model would do better.
    GiveUp,
}

/// Decides it. `retries` is how often the same was tried again already.
pub fn decide(task: AuxTask, fault: &Fault, retries: u32, limits: &AuxLimits) -> AuxStep {
    use FaultClass::*;
    let passes = match fault.class {
        // An answer that takes too long once would take too long again, and a summary is waited for.
        Timeout => task != AuxTask::Compression,
        Unreachable | StreamCut | Server | Overloaded | Garbled | Unknown => true,
        _ => false,
    };
    if passes && retries < limits.retries {
        return AuxStep::Again(limits.backoff.saturating_mul(2u32.saturating_pow(retries)));
    }
    match fault.class {
        Budget => AuxStep::GiveUp,
        Billing | RateLimited | UpstreamRateLimited | Unreachable | Auth | Certificate => {
            AuxStep::Next { rests: true }
        }
        _ => AuxStep::Next { rests: false },
    }
}

/// The answer of a model to an auxiliary task.
#[derive(Debug, Clone, PartialEq)]
pub struct AuxAnswer {
    pub text: String,
    pub model: String,
    /// It was cut by the output limit.
    pub was_cut: bool,
    pub cost: Cost,
    /// The reason why the preferred model did not answer.
    pub instead_of: Option<String>,
}

/// The reason why no model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuxFailure {
    /// The fault of the last model; `None` if no model was called.
    pub class: Option<FaultClass>,
    /// A model refused an image as too large.
    pub has_large_image: bool,
    /// A sentence for the user.
    pub why: String,
}

/// Asks the stops in order until one answers.
pub async fn ask_in_order(
    stops: &[Arc<dyn Model>],
    cooldowns: &Cooldowns,
    limits: &AuxLimits,
    request: &AuxRequest,
) -> Result<String, String> {
    let answer = answer_in_order(stops, cooldowns, limits, request).await;
    answer.map(|answer| answer.text).map_err(|failure| failure.why)
}

/// The same, with what else is known about the answer.
pub async fn answer_in_order(
    stops: &[Arc<dyn Model>],
    cooldowns: &Cooldowns,
    limits: &AuxLimits,
    request: &AuxRequest,
) -> Result<AuxAnswer, AuxFailure> {
    let task = request.task;
    // When all of them have a cooldown, asking is still better than not asking.
    let available: Vec<_> = stops.iter().filter(|model| !cooldowns.covers(model.as_ref())).collect();
    let stops = if available.is_empty() { stops.iter().collect() } else { available };
    let mut last = "no model can be asked; see `hermes model tasks`".to_owned();
    let (mut class, mut first, mut has_large_image) = (None, None, false);
    for model in stops {
        let (mut retries, mut keys) = (0, 0);
        loop {
            let fault = match ask(model.as_ref(), limits, request).await {
                Ok(answer) => return Ok(AuxAnswer { instead_of: first, ..answer }),
                Err(failure) => classify(&failure),
            };
            class = Some(fault.class);
            has_large_image |= matches!(fault.class, FaultClass::ImageTooLarge | FaultClass::PayloadTooLarge);
            last = format!("{}/{}: {}", model.profile().issuer.provider, model.profile().model, fault.detail);
            if keys < KEYS && is_about_the_key(fault.class) && model.another_key(&fault).await {
                keys += 1;
                continue;
            }
            match decide(task, &fault, retries, limits) {
                AuxStep::Again(delay) => tokio::time::sleep(delay).await,
                AuxStep::Next { rests } => {
                    if rests {
                        cooldowns.begin(model.as_ref());
                    }
                    first.get_or_insert_with(|| last.clone());
                    break;
                }
                AuxStep::GiveUp => {
                    let why = format!("{}: {last}", task.as_str());
                    return Err(AuxFailure { class, has_large_image, why });
                }
            }
            retries += 1;
        }
    }
    Err(AuxFailure { class, has_large_image, why: format!("{}: {last}", task.as_str()) })
}

/// Asks, and once more with more room where the answer was cut before it said enough: some models think at
/// length, and what they think counts as written.
async fn ask(model: &dyn Model, limits: &AuxLimits, request: &AuxRequest) -> Result<AuxAnswer, Failure> {
    let first = ask_once(model, limits, request).await?;
    let must_be_whole = request.task == AuxTask::Compression;
    let max_output_tokens = request.max_output_tokens.saturating_mul(4).min(output_cap::MOST);
    let has_more = max_output_tokens > request.max_output_tokens;
    if !(first.was_cut && (must_be_whole || first.text.is_empty()) && has_more) {
        return said(first);
    }
    let request = AuxRequest { max_output_tokens, ..request.clone() };
    match ask_once(model, limits, &request).await {
        Ok(mut second) => {
            second.cost += first.cost;
            said(second)
        }
        // The larger cap was not taken; what there is counts.
        Err(_) if !first.text.is_empty() => Ok(first),
        Err(failure) => Err(failure),
    }
}

fn said(answer: AuxAnswer) -> Result<AuxAnswer, Failure> {
    match answer.text.is_empty() {
        true => Err(Failure::Garbled { cause: "the reply was empty".to_owned() }),
        false => Ok(answer),
    }
}

async fn ask_once(model: &dyn Model, limits: &AuxLimits, request: &AuxRequest) -> Result<AuxAnswer, Failure> {
    let late = |_| Failure::TimedOut { phase: TimeoutPhase::Total, limit: limits.time };
    let reply = tokio::time::timeout(limits.time, listen(model, request)).await.map_err(late)??;
    Ok(AuxAnswer {
        text: reply.message.text.trim().to_owned(),
        model: model.profile().model.to_string(),
        was_cut: matches!(reply.finish, FinishReason::Length | FinishReason::Incomplete),
        cost: reply.bill.cost,
        instead_of: None,
    })
}

async fn listen(model: &dyn Model, request: &AuxRequest) -> Result<Reply, Failure> {
    let encoded = Encoder::new(model.profile().mode).encode(&written(model, request));
    let mut events = model.reply(encoded).await?;
    while let Some(event) = events.next().await {
        if let ModelEvent::Finished(reply) = event? {
            return Ok(*reply);
        }
    }
    Err(Failure::Cut { cause: "the stream ended before the reply did".to_owned() })
}

fn written(model: &dyn Model, request: &AuxRequest) -> ModelRequest {
    let profile = model.profile();
    let messages: Vec<Arc<Message>> = request.messages.iter().cloned().map(Arc::new).collect();
    ModelRequest {
        model: profile.model.clone(),
        system: request.system.as_str().into(),
        tools: Arc::from([]),
        messages: Arc::new(messages),
        settings: RequestSettings {
            stream: true,
            max_tokens: Some(request.max_output_tokens),
            dialect: profile.dialect,
            issuer: None,
            effort: profile.effort,
            cache: None,
            session: request.session.as_ref().map(|session| session.as_str().into()),
            extra: profile.extra.clone(),
        },
    }
}

#[cfg(test)]
#[path = "auxiliary_tests.rs"]
mod tests;
