//! Mail to a busy session: stored, delivered once, and by the lease holder only.

use crate::desk::{Desk, closing, intent, opening, owner, reply, session, texts};
use hermes_conversation::{
    CallId, DeliveryPoint, IntentState, Lease, MailId, MailMode, Mailbox, Message, OpenTurn, Opening,
    RecordError, SessionId, Settled, Settlement, ToolMessage, Transcript,
};
use hermes_store::StoreError;

async fn post(desk: &Desk, mode: MailMode, text: &str) -> MailId {
    desk.db.post(&SessionId::new("s"), mode, text).await.unwrap()
}

/// The queued mail, as `mode text`.
async fn waiting(desk: &Desk) -> Vec<String> {
    let mail = desk.db.waiting(&SessionId::new("s")).await.unwrap();
    mail.iter().map(|mail| format!("{} {}", mail.mode.as_str(), mail.text)).collect()
}

fn with_mail(text: &str, mail: &[MailId]) -> Opening {
    Opening { mail: mail.to_vec(), ..opening(text) }
}

/// A turn with one call that is running, and the settlement that ends it.
async fn busy(desk: &Desk, lease: &Lease, mail: &[MailId]) -> (OpenTurn, Settlement) {
    let turn = desk.open(lease, "go").await;
    let intents = [intent("a", IntentState::Started)];
    let permits = desk.db.plan(lease, &turn, &reply(&["a"]), None, &intents).await.unwrap();
    let message = ToolMessage::new(CallId::new("a"), "terminal", "ok");
    let results = vec![Settled { intent: permits.ids[0], state: IntentState::Done, message }];
    (turn, Settlement { results, mail: mail.to_vec(), ..Settlement::default() })
}

#[tokio::test]
async fn post_is_one_durable_commit_and_needs_no_lease() {
    let desk = Desk::new();
    desk.lease("s").await;
    let full = desk.db.stats().full_commits;
    post(&desk, MailMode::Queue, "one").await;
    assert_eq!(desk.db.stats().full_commits, full + 1);
    // Another process, while the first one holds the lease.
    post(&desk.again(), MailMode::Steer, "two").await;
    assert_eq!(waiting(&desk).await, ["queue one", "steer two"]);
    let unknown = desk.db.post(&SessionId::new("gone"), MailMode::Queue, "x").await.unwrap_err();
    assert!(matches!(unknown, StoreError::UnknownSession { .. }), "{unknown}");
}

#[tokio::test]
async fn mail_is_delivered_once_with_a_prompt_or_result() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let queued = post(&desk, MailMode::Queue, "one").await;
    let turn = desk.db.open_turn(&lease, with_mail("one", &[queued])).await.unwrap();
    assert!(waiting(&desk).await.is_empty());
    desk.db.close(&lease, turn, closing("fine")).await.unwrap();

    // The same mail cannot open another turn, and no turn is recorded.
    let before = desk.messages("s").await;
    let twice = desk.db.open_turn(&lease, with_mail("one", &[queued])).await.unwrap_err();
    assert!(matches!(twice, RecordError::Store { .. }), "{twice}");
    assert_eq!(desk.messages("s").await, before);

    let steer = post(&desk, MailMode::Steer, "two").await;
    let (turn, settlement) = busy(&desk, &lease, &[steer]).await;
    desk.db.settle(&lease, &turn, settlement).await.unwrap();
    assert!(waiting(&desk).await.is_empty());
    let joined: (i64, String) = desk
        .raw()
        .query_row(
            "SELECT b.turn, m.role FROM hx_mailbox AS b JOIN messages AS m ON m.id = b.message
             WHERE b.id = ?1 AND b.state = 'delivered'",
            [steer.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(joined, (turn.id.0, "tool".to_owned()));
}

#[tokio::test]
async fn mail_needs_a_message_to_join() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let steer = post(&desk, MailMode::Steer, "left").await;
    let (turn, _) = busy(&desk, &lease, &[]).await;
    let bare = Settlement { mail: vec![steer], ..Settlement::default() };
    desk.db.settle(&lease, &turn, bare).await.unwrap_err();
    assert_eq!(waiting(&desk).await, ["steer left"]);
}

#[tokio::test]
async fn process_without_the_lease_delivers_nothing() {
    let desk = Desk::new();
    let old = desk.lease("s").await;
    let mail = post(&desk, MailMode::Queue, "one").await;
    let other = desk.again();
    let db = other.db.clone().with_liveness(|_| false);
    let new = db.acquire(session("s"), owner(2)).await.unwrap().lease;
    let fenced = desk.db.open_turn(&old, with_mail("one", &[mail])).await.unwrap_err();
    assert!(matches!(fenced, RecordError::Fenced { .. }), "{fenced}");
    assert_eq!(waiting(&desk).await, ["queue one"]);
    db.open_turn(&new, with_mail("one", &[mail])).await.unwrap();
    assert!(waiting(&desk).await.is_empty());
}

#[tokio::test]
async fn undelivered_steering_mail_is_queued_at_the_end_of_the_turn() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let turn = desk.open(&lease, "go").await;
    post(&desk, MailMode::Steer, "late").await;
    post(&desk, MailMode::Interrupt, "stop").await;
    let due = Mailbox::waiting(&desk.db, &lease, DeliveryPoint::ToolResult).await.unwrap();
    assert_eq!(due.iter().map(|mail| mail.text.as_str()).collect::<Vec<_>>(), ["late"]);
    desk.db.close(&lease, turn, closing("done")).await.unwrap();
    assert_eq!(waiting(&desk).await, ["queue late", "interrupt stop"]);
    let due = Mailbox::waiting(&desk.db, &lease, DeliveryPoint::NextTurn).await.unwrap();
    assert_eq!(due.len(), 2);
}

#[tokio::test]
async fn mail_of_another_process_is_noticed_by_the_next_plan() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let due = async || Mailbox::waiting(&desk.db, &lease, DeliveryPoint::ToolResult).await.unwrap().len();
    assert_eq!(due().await, 0);
    post(&desk.again(), MailMode::Steer, "from elsewhere").await;
    let (turn, settlement) = busy(&desk, &lease, &[]).await;
    // It stays queued until it is delivered.
    assert_eq!((due().await, due().await), (1, 1));
    let mail = desk.db.waiting(&lease.session).await.unwrap();
    let settlement = Settlement { mail: mail.iter().map(|mail| mail.id).collect(), ..settlement };
    desk.db.settle(&lease, &turn, settlement).await.unwrap();
    assert_eq!(due().await, 0);
    // Mail posted through this handle is noticed at once.
    post(&desk, MailMode::Steer, "from here").await;
    assert_eq!(due().await, 1);
}

#[tokio::test]
async fn mail_outlives_the_process_that_should_deliver_it() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    let steer = post(&desk, MailMode::Steer, "turn left").await;
    let (turn, settlement) = busy(&desk, &lease, &[steer]).await;
    let queued = post(&desk, MailMode::Queue, "and then").await;
    // The process dies before it settles; another one resumes the session.
    let next = desk.again();
    let db = next.db.clone().with_liveness(|_| false);
    let lease = db.acquire_existing(SessionId::new("s"), owner(2)).await.unwrap().lease;
    db.recover(&lease, texts(), Vec::new()).await.unwrap();
    assert_eq!(waiting(&next).await, ["queue turn left", "queue and then"]);
    db.settle(&lease, &turn, settlement).await.unwrap_err();
    let turn = db.open_turn(&lease, with_mail("turn left", &[steer])).await.unwrap();
    db.close(&lease, turn, closing("yes")).await.unwrap();
    let turn = db.open_turn(&lease, with_mail("and then", &[queued])).await.unwrap();
    db.close(&lease, turn, closing("done")).await.unwrap();
    assert!(waiting(&next).await.is_empty());
    let said = next.messages("s").await;
    for text in ["turn left", "and then"] {
        let times =
            said.iter().filter(|message| matches!(message, Message::User(_)) && message.text() == text);
        assert_eq!(times.count(), 1, "{text}");
    }
}

#[tokio::test]
async fn delete_removes_the_mail_of_a_session() {
    let desk = Desk::new();
    let lease = desk.lease("s").await;
    post(&desk, MailMode::Queue, "never said").await;
    desk.db.release(&lease).await.unwrap();
    desk.db.delete(&lease.session).await.unwrap();
    let left: i64 = desk.raw().query_row("SELECT COUNT(*) FROM hx_mailbox", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}
