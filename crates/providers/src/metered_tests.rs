use super::*;
use crate::facts::{FactSource, Prices, per_million};
use bytes::Bytes;
use hermes_conversation::{AssistantMessage, Cost, FinishReason, Issuer};
use hermes_wire::{ApiMode, Bound, Dialect};

/// Answers with given events, or fails at once.
struct Canned {
    profile: ModelProfile,
    answer: Result<Vec<Result<ModelEvent, Failure>>, Failure>,
}

impl Model for Canned {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn reply(&self, _: EncodedRequest) -> BoxFuture<'_, Result<ModelEvents, Failure>> {
        let answer = self.answer.clone();
        Box::pin(async { Ok(futures::stream::iter(answer?).boxed()) })
    }
}

/// Grants everything up to a limit and records its calls.
struct Book {
    limit: Option<Money>,
    settled: Mutex<Vec<SpentCall>>,
    bounds: Mutex<Vec<Bound>>,
}

impl Meter for Book {
    fn has_limits(&self) -> bool {
        self.limit.is_some()
    }

    fn reserve(&self, call: PlannedCall) -> BoxFuture<'_, Result<Ticket, Failure>> {
        self.bounds.lock().unwrap().push(call.bound);
        let answer = match (self.limit, call.bound) {
            (Some(limit), Bound::AtMost(amount)) if amount <= limit => {
                Ok(Ticket { reservation: Some((7, amount)) })
            }
            (Some(_), _) => Err(Failure::OverBudget { why: "too dear".into() }),
            (None, _) => Ok(Ticket::default()),
        };
        Box::pin(async { answer })
    }

    fn settle(&self, _: Option<&str>, spent: SpentCall) {
        self.settled.lock().unwrap().push(spent);
    }
}

fn profile(provider: &str) -> ModelProfile {
    ModelProfile {
        mode: ApiMode::ChatCompletions,
        model: "m".into(),
        issuer: Issuer { provider: provider.into(), origin: "http://localhost".into(), model: "m".into() },
        base_url: "http://localhost/v1".into(),
        dialect: Dialect::default(),
        max_tokens: None,
        usual_cap: None,
        context_length: None,
        ollama_num_ctx: None,
        text_tool_calls: false,
        sees_images: None,
        effort: None,
        cache: None,
        extra: hermes_wire::ExtraFields::default(),
    }
}

fn request() -> EncodedRequest {
    EncodedRequest {
        mode: ApiMode::ChatCompletions,
        body: Bytes::from(vec![b'x'; 2_000]),
        segments: Vec::new(),
        stream: true,
        output_cap: Some(100),
        session: Some("s".into()),
    }
}

fn tariff() -> Tariff {
    let price = |text| per_million(text).unwrap();
    let prices = Prices { input: price("1"), output: price("10"), cache_read: None, cache_write: None };
    Tariff::Prices(prices, FactSource::Config)
}

fn used(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

fn finished(usage: Option<Usage>, billed: Option<&str>) -> ModelEvent {
    let cost = Cost { actual: billed.and_then(Money::parse), ..Cost::default() };
    ModelEvent::Finished(Box::new(Reply {
        message: AssistantMessage::default(),
        calls: vec![],
        finish: FinishReason::Stop,
        usage,
        bill: Bill { cost, ..Bill::default() },
    }))
}

struct Outcome {
    bill: Option<Bill>,
    settled: Vec<(u64, Usage, Money, Vec<i64>)>,
    /// The sum of all settled calls.
    uncertain: Money,
}

async fn call(
    provider: &str,
    limit: Option<&str>,
    task: &'static str,
    answer: Result<Vec<Result<ModelEvent, Failure>>, Failure>,
) -> Outcome {
    let book = Arc::new(Book {
        limit: limit.and_then(Money::parse),
        settled: Mutex::default(),
        bounds: Mutex::default(),
    });
    let inner = Arc::new(Canned { profile: profile(provider), answer });
    let model = Metered::new(inner, book.clone(), tariff(), 50).for_task(task);
    let mut bill = None;
    if let Ok(mut events) = model.reply(request()).await {
        while let Some(event) = events.next().await {
            if let Ok(ModelEvent::Finished(reply)) = event {
                bill = Some(reply.bill);
            }
        }
    }
    let settled = book.settled.lock().unwrap();
    let uncertain = settled.iter().map(|spent| spent.bill.uncertain).sum();
    let settled = settled.iter();
    let settled = settled
        .map(|spent| (spent.calls, spent.usage, spent.bill.charged, spent.bill.reservations.clone()))
        .collect();
    Outcome { bill, settled, uncertain }
}

fn dollars(text: &str) -> Money {
    Money::parse(text).unwrap()
}

/// The bound of [`request`]: 1,000 tokens in and 100 out.
const BOUND: &str = "0.002";

#[tokio::test]
async fn an_answered_call_is_counted_with_its_message() {
    let got = call("p", Some("1"), "", Ok(vec![Ok(finished(Some(used(500, 10)), None))])).await;
    let bill = got.bill.unwrap();
    assert_eq!((bill.charged, bill.reservations), (dollars("0.0006"), vec![7]));
    assert_eq!((bill.cost.status, bill.cost.source), (CostStatus::Estimated, "user_override"));
    assert!(got.settled.is_empty());
}

#[tokio::test]
async fn auxiliary_task_is_counted_when_it_ends() {
    let got = call("p", Some("1"), "title", Ok(vec![Ok(finished(Some(used(500, 10)), None))])).await;
    assert_eq!(got.settled, [(1, used(500, 10), dollars("0.0006"), vec![7])]);
    assert!(got.bill.unwrap().reservations.is_empty());
}

#[tokio::test]
async fn cost_in_dollars_is_taken_from_routers_only() {
    for (provider, charged, status) in
        [("openrouter", "0.5", CostStatus::Actual), ("custom", "0.0006", CostStatus::Estimated)]
    {
        let got = call(provider, None, "", Ok(vec![Ok(finished(Some(used(500, 10)), Some("0.5")))])).await;
        let bill = got.bill.unwrap();
        assert_eq!((bill.charged, bill.cost.status), (dollars(charged), status), "{provider}");
    }
}

#[tokio::test]
async fn every_end_of_a_call_is_counted_once() {
    let cut = || Err(Failure::Cut { cause: "gone".into() });
    let refused = Failure::Http { status: 503, retry_after: None, body: String::new() };
    let late = Failure::TimedOut { phase: TimeoutPhase::FirstByte, limit: Default::default() };
    let part = used(900, 1);
    let all = || vec![7];
    for (name, limit, answer, want, uncertain) in [
        (
            "turned away",
            Some("1"),
            Err(refused.clone()),
            vec![(0, Usage::default(), Money::ZERO, all())],
            "0",
        ),
        ("turned away, no limit", None, Err(refused), vec![], "0"),
        ("no answer", Some("1"), Err(late), vec![(0, Usage::default(), dollars(BOUND), all())], BOUND),
        ("cut", Some("1"), Ok(vec![cut()]), vec![(0, Usage::default(), dollars(BOUND), all())], BOUND),
        ("cut, no limit", None, Ok(vec![cut()]), vec![], "0"),
        (
            "cut after its usage",
            Some("1"),
            Ok(vec![Ok(ModelEvent::Usage(part)), cut()]),
            vec![(1, part, dollars(BOUND), all())],
            "0.00109",
        ),
        (
            "cut after its usage, no limit",
            None,
            Ok(vec![Ok(ModelEvent::Usage(part)), cut()]),
            vec![(1, part, dollars("0.00091"), vec![])],
            "0",
        ),
        ("too dear", Some("0.001"), Ok(vec![Ok(finished(None, None))]), vec![], "0"),
    ] {
        let got = call("p", limit, "", answer).await;
        assert_eq!(got.settled, want, "{name}");
        assert_eq!(got.bill, None, "{name}");
        assert_eq!(got.uncertain, dollars(uncertain), "{name}");
    }
}

#[tokio::test]
async fn reply_without_usage_counts_the_whole_reservation() {
    let got = call("p", Some("1"), "", Ok(vec![Ok(finished(None, None))])).await;
    let bill = got.bill.unwrap();
    assert_eq!((bill.charged, bill.cost.status), (dollars(BOUND), CostStatus::Unknown));
}

#[tokio::test]
async fn prices_are_asked_for_only_when_a_limit_is_to_be_kept() {
    for (limit, want) in [(Some("1"), Bound::AtMost(dollars(BOUND))), (None, Bound::Unknown)] {
        let book = Arc::new(Book {
            limit: limit.and_then(Money::parse),
            settled: Mutex::default(),
            bounds: Mutex::default(),
        });
        let inner = Arc::new(Canned { profile: profile("p"), answer: Ok(vec![Ok(finished(None, None))]) });
        let ask: AskPrices = Arc::new(|| Box::pin(async { tariff() }));
        let model = Metered::new(inner, book.clone(), Tariff::Unknown, 50).with_prices_from(ask);
        drop(model.reply(request()).await.unwrap());
        assert_eq!(*book.bounds.lock().unwrap(), [want]);
    }
}
