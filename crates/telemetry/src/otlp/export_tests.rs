use super::super::span::Attributed;
use super::*;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

/// A collector that keeps its requests and returns the given responses in order.
fn collector(answers: &[Result<&str, &str>]) -> (Collector, Arc<Mutex<Vec<usize>>>) {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let mut answers: Vec<Result<Vec<u8>, String>> =
        answers.iter().map(|answer| answer.map(|text| text.into()).map_err(|text| text.into())).collect();
    answers.reverse();
    let (kept, answers) = (bodies.clone(), Mutex::new(answers));
    let post = move |body: Vec<u8>| -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().len();
        kept.lock().unwrap().push(spans);
        let answer = answers.lock().unwrap().pop().unwrap_or(Ok(Vec::new()));
        Box::pin(async move { answer })
    };
    (Collector { service: "s".into(), post: Box::new(post) }, bodies)
}

fn span() -> EndedSpan {
    EndedSpan {
        name: "turn",
        trace: 1,
        id: 1,
        parent: None,
        begun: 1,
        ended: 2,
        attributes: Attributed::default(),
        error: None,
    }
}

fn hand(outlet: &Outlet, count: usize) {
    let Outlet(Some(Handing { queue, lost, .. })) = outlet else { panic!("the outlet is off") };
    for _ in 0..count {
        if queue.try_send(span()).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[tokio::test]
async fn shutdown_sends_all_spans_in_batches() {
    let (collector, bodies) = collector(&[]);
    let (outlet, sender) = queue(collector, Timestamp::now, QUEUE);
    hand(&outlet, 2 * BATCH + 3);
    let leaving = CancellationToken::new();
    leaving.cancel();
    sender.run(leaving).await;
    assert_eq!(*bodies.lock().unwrap(), [BATCH, BATCH, 3]);
}

#[tokio::test]
async fn full_batch_is_sent_immediately() {
    let (collector, _) = collector(&[]);
    let (outlet, mut sender) = queue(collector, Timestamp::now, QUEUE);
    hand(&outlet, BATCH + 1);
    let batch = sender.next_batch(&CancellationToken::new()).await.unwrap();
    assert_eq!(batch.len(), BATCH);
}

#[tokio::test]
async fn no_request_without_spans() {
    let (collector, bodies) = collector(&[]);
    let (outlet, sender) = queue(collector, Timestamp::now, QUEUE);
    drop(outlet);
    sender.run(CancellationToken::new()).await;
    assert!(bodies.lock().unwrap().is_empty());
}

#[tokio::test]
async fn dropped_spans_are_counted() {
    let (collector, bodies) = collector(&[Ok(r#"{"partialSuccess":{"rejectedSpans":"1"}}"#)]);
    let (outlet, mut sender) = queue(collector, Timestamp::now, 4);
    hand(&outlet, 10);
    assert_eq!(sender.lost.load(Ordering::Relaxed), 6);
    let leaving = CancellationToken::new();
    leaving.cancel();
    let batch = sender.next_batch(&leaving).await.unwrap();
    sender.send(&batch).await;
    assert_eq!((sender.lost.load(Ordering::Relaxed), &*bodies.lock().unwrap()), (7, &vec![4]));
    assert!(sender.next_batch(&leaving).await.is_none());
    // The exporter has ended; closing a span is not affected.
    hand(&outlet, 1);
    assert_eq!(sender.lost.load(Ordering::Relaxed), 8);
}

#[tokio::test]
async fn failure_is_logged_once_and_recovery_counts_lost_spans() {
    let (collector, _) = collector(&[Err("refused"), Err("refused"), Ok(""), Ok("")]);
    let (_outlet, mut sender) = queue(collector, Timestamp::now, 4);
    let mut states = Vec::new();
    for _ in 0..4 {
        sender.send(&[span(), span()]).await;
        states.push((sender.is_failing, sender.lost.load(Ordering::Relaxed)));
    }
    assert_eq!(states, [(true, 2), (true, 4), (false, 0), (false, 0)]);
}
