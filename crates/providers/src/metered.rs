//! A model with a meter: no call is sent that could exceed a budget, and every usage is counted, however the call
//! ends.

use crate::catalogue;
use crate::facts::Tariff;
use futures::StreamExt;
use hermes_conversation::{Bill, BoxFuture, CostStatus, Money, SpentCall, Usage};
use hermes_wire::{
    EncodedRequest, Failure, Fault, Meter, Model, ModelEvent, ModelEvents, ModelProfile, PlannedCall, Reply,
    Ticket, TimeoutPhase,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Fetches unknown prices; called once, and only if there is a budget.
pub type AskPrices = Arc<dyn Fn() -> BoxFuture<'static, Tariff> + Send + Sync>;

/// A model with a meter.
pub struct Metered {
    inner: Arc<dyn Model>,
    meter: Arc<dyn Meter>,
    tariff: Mutex<Tariff>,
    ask_prices: Option<AskPrices>,
    /// The largest reply in tokens if the request sets no limit.
    longest_reply: u64,
    /// Empty for the conversation itself, whose replies are counted with their messages.
    task: &'static str,
    /// True if the endpoint states its cost in dollars.
    believes_cost: bool,
}

impl Metered {
    pub fn new(inner: Arc<dyn Model>, meter: Arc<dyn Meter>, tariff: Tariff, longest_reply: u64) -> Self {
        let row = catalogue::find(&inner.profile().issuer.provider);
        let believes_cost = row.is_some_and(|row| row.quirks.states_cost);
        let tariff = Mutex::new(tariff);
        Self { inner, meter, tariff, ask_prices: None, longest_reply, task: "", believes_cost }
    }

    /// Returns the same model with a source of prices.
    pub fn with_prices_from(mut self, ask: AskPrices) -> Self {
        self.ask_prices = Some(ask);
        self
    }

    /// Returns the same model for an auxiliary task, whose calls are counted when they end.
    pub fn for_task(mut self, task: &'static str) -> Self {
        self.task = task;
        self
    }

    async fn tariff(&self) -> Tariff {
        let known = *self.tariff.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.ask_prices {
            Some(ask) if known == Tariff::Unknown && self.meter.has_limits() => {
                let found = ask().await;
                *self.tariff.lock().unwrap_or_else(PoisonError::into_inner) = found;
                found
            }
            _ => known,
        }
    }

    async fn send(&self, request: EncodedRequest) -> Result<ModelEvents, Failure> {
        let tariff = self.tariff().await;
        let session = request.session.clone();
        // The bound for budgets: every token of a request has at least two bytes.
        let input = request.body.len() as u64 / 2;
        let output = request.output_cap.unwrap_or(self.longest_reply);
        let profile = self.inner.profile();
        let ticket = self
            .meter
            .reserve(PlannedCall {
                session: session.clone(),
                provider: profile.issuer.provider.clone(),
                model: profile.model.to_string(),
                base_url: profile.base_url.clone(),
                task: self.task.to_owned(),
                bound: tariff.bound(input, output),
            })
            .await?;
        let mut call = Call {
            meter: self.meter.clone(),
            ticket,
            tariff,
            session,
            blank: blank(profile, self.task),
            seen: None,
            is_side_task: !self.task.is_empty(),
            believes_cost: self.believes_cost,
            ended: false,
        };
        match self.inner.reply(request).await {
            Ok(events) => Ok(watched(events, call)),
            Err(failure) => {
                if cost_nothing(&failure) {
                    call.free();
                }
                Err(failure)
            }
        }
    }
}

impl Model for Metered {
    fn profile(&self) -> &ModelProfile {
        self.inner.profile()
    }

    fn another_key<'a>(&'a self, fault: &'a Fault) -> BoxFuture<'a, bool> {
        self.inner.another_key(fault)
    }

    fn reply(&self, request: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>> {
        Box::pin(self.send(request))
    }
}

/// A call without usage.
fn blank(profile: &ModelProfile, task: &str) -> SpentCall {
    SpentCall {
        calls: 0,
        usage: Usage::default(),
        model: profile.model.to_string(),
        provider: profile.issuer.provider.clone(),
        base_url: profile.base_url.clone(),
        task: task.to_owned(),
        bill: Bill::default(),
    }
}

/// Returns true if a call that failed like this is not billed: it did not arrive, or was rejected.
fn cost_nothing(failure: &Failure) -> bool {
    match failure {
        Failure::Http { .. }
        | Failure::Unreachable { .. }
        | Failure::NoKey { .. }
        | Failure::OverBudget { .. } => true,
        Failure::TimedOut { phase, .. } => *phase == TimeoutPhase::Connect,
        Failure::Cut { .. }
        | Failure::Garbled { .. }
        | Failure::TooLarge { .. }
        | Failure::Reported { .. } => false,
    }
}

/// Watches the events of a call.
fn watched(events: ModelEvents, call: Call) -> ModelEvents {
    futures::stream::unfold((events, call), |(mut events, mut call)| async move {
        let mut event = events.next().await?;
        match &mut event {
            Ok(ModelEvent::Usage(usage)) => call.seen = Some(*usage),
            Ok(ModelEvent::Finished(reply)) => call.finished(reply),
            Ok(_) | Err(_) => {}
        }
        Some((event, (events, call)))
    })
    .boxed()
}

/// A running call. However it ends, it is counted once: with the reply's message, or here.
struct Call {
    meter: Arc<dyn Meter>,
    ticket: Ticket,
    tariff: Tariff,
    session: Option<Arc<str>>,
    blank: SpentCall,
    /// The usage that the endpoint has stated so far.
    seen: Option<Usage>,
    is_side_task: bool,
    believes_cost: bool,
    ended: bool,
}

impl Call {
    fn finished(&mut self, reply: &mut Reply) {
        self.ended = true;
        let billed = reply.bill.cost.actual.filter(|_| self.believes_cost);
        let cost = self.tariff.cost(reply.usage.as_ref(), billed);
        let (charged, uncertain) = match (reply.usage, cost.status) {
            // The cost of this reply is unknown: it may be the whole reservation.
            (None, CostStatus::Unknown) => (self.reserved(), self.reserved()),
            (usage, _) => (self.tariff.charged(usage.as_ref(), &cost), Money::ZERO),
        };
        let bill = Bill { cost, charged, uncertain, reservations: self.reservation() };
        match self.is_side_task {
            true => {
                let usage = reply.usage.unwrap_or_default();
                let spent = SpentCall { calls: 1, usage, bill: bill.clone(), ..self.blank.clone() };
                self.meter.settle(self.session.as_deref(), spent);
                reply.bill = Bill { reservations: Vec::new(), ..bill };
            }
            false => reply.bill = bill,
        }
    }

    /// Releases the reservation; the call cost nothing.
    fn free(&mut self) {
        self.ended = true;
        if self.ticket.reservation.is_some() {
            let bill = Bill { reservations: self.reservation(), ..Bill::default() };
            self.meter.settle(self.session.as_deref(), SpentCall { bill, ..self.blank.clone() });
        }
    }

    fn reserved(&self) -> Money {
        self.ticket.reservation.map_or(Money::ZERO, |(_, amount)| amount)
    }

    fn reservation(&self) -> Vec<i64> {
        self.ticket.reservation.iter().map(|(id, _)| *id).collect()
    }
}

/// Counts a call that broke off with the usage stated so far; the budget counts the whole reservation.
impl Drop for Call {
    fn drop(&mut self) {
        if self.ended || (self.seen.is_none() && self.ticket.reservation.is_none()) {
            return;
        }
        let cost = match &self.seen {
            Some(usage) => self.tariff.cost(Some(usage), None),
            None => Default::default(),
        };
        let known = self.tariff.charged(self.seen.as_ref(), &cost);
        let charged = known.max(self.reserved());
        let uncertain = charged.saturating_sub(known);
        let bill = Bill { cost, charged, uncertain, reservations: self.reservation() };
        let usage = self.seen.unwrap_or_default();
        let calls = u64::from(self.seen.is_some());
        self.meter.settle(self.session.as_deref(), SpentCall { calls, usage, bill, ..self.blank.clone() });
    }
}

#[cfg(test)]
#[path = "metered_tests.rs"]
mod tests;
