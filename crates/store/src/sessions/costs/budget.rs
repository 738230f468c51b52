//! Budgets: spending limits, and reservations for running calls.
//!
//! A reservation is one transaction, so two processes cannot reserve the same money. The reservation of a
//! dead process counts as spent: the call may have been made.

use super::call_costs::{self, Amounts, LedgerKey};
use crate::StoreError;
use crate::error::Doing;
use crate::sessions::connection::writer::Level;
use crate::sessions::rows::counts::{count, stored};
use crate::sessions::rows::decode;
use crate::sessions::{Liveness, SessionDb, lineage, this_process};
use hermes_conversation::{Money, Owner, SpentCall, Usage};
use rusqlite::{Connection, Row, params};

/// Spending limits. `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendLimits {
    /// For a session with its sub-agents.
    pub session: Option<Money>,
    /// For a local day.
    pub day: Option<Money>,
}

/// A kind of spending limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendLimit {
    Session,
    Day,
}

/// A request to reserve the maximum cost of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub session: String,
    pub provider: String,
    pub model: String,
    pub task: String,
    pub amount: Money,
}

/// The result of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// The id of the reservation.
    Granted(i64),
    Refused(LimitExceeded),
}

/// The limit that a reservation would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitExceeded {
    pub by: SpendLimit,
    pub limit: Money,
    pub spent: Money,
    /// Reserved for running calls.
    pub reserved: Money,
}

/// Money spent, by provider, model and task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spending {
    /// The local day, `YYYY-MM-DD`.
    pub day: String,
    pub charged: Money,
    pub uncertain: Money,
    pub reserved: Money,
    /// By provider, model and task; the most expensive first.
    pub rows: Vec<SpendingRow>,
}

/// The spending on one provider, model and task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingRow {
    pub provider: String,
    pub model: String,
    pub task: String,
    pub calls: u64,
    pub usage: Usage,
    pub charged: Money,
    pub uncertain: Money,
    /// Calls with an unknown price.
    pub unpriced: u64,
}

impl SessionDb {
    /// Reserves an amount unless that exceeds a limit.
    pub async fn reserve(&self, request: Reservation, limits: SpendLimits) -> Result<Reserved, StoreError> {
        let (now, is_alive) = (self.now(), self.is_alive);
        self.write(Level::Normal, move |db| {
            charge_dead_processes(db, is_alive, now)?;
            reserve(db, &request, limits, now).doing("reserve money for a call")
        })
        .await
    }

    /// Counts a call that is not recorded with a message. The write is queued at once; awaiting it is
    /// optional.
    pub fn count_call(
        &self,
        session: &str,
        spent: SpentCall,
    ) -> impl Future<Output = Result<(), StoreError>> + use<> {
        let (session, now) = (session.to_owned(), self.now());
        self.write(Level::Normal, move |db| call_costs::count(db, &session, &spent, now))
    }

    /// Returns the spending of the current local day, or of one session with its sub-agents. A sub-agent
    /// shares the budget of its parent, so its spending is the parent's.
    pub async fn spending(&self, session: Option<&str>) -> Result<Spending, StoreError> {
        let (session, now) = (session.map(str::to_owned), self.now());
        self.read(move |db| spending_of(db, session.as_deref(), now).doing("read the spending")).await
    }
}

fn reserve(
    db: &Connection,
    request: &Reservation,
    limits: SpendLimits,
    now: f64,
) -> rusqlite::Result<Reserved> {
    for (by, limit) in [(SpendLimit::Session, limits.session), (SpendLimit::Day, limits.day)] {
        let Some(limit) = limit else { continue };
        let (spent, reserved) = match by {
            SpendLimit::Session => of_session(db, &request.session)?,
            SpendLimit::Day => of_day(db, now)?,
        };
        if spent + reserved + request.amount > limit {
            return Ok(Reserved::Refused(LimitExceeded { by, limit, spent, reserved }));
        }
    }
    let owner = this_process();
    db.prepare_cached(
        "INSERT INTO hx_reservations (session, provider, model, task, amount, pid, started, boot, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        request.session,
        request.provider,
        request.model,
        request.task,
        stored(request.amount.units()),
        owner.pid,
        stored(owner.started),
        owner.boot,
        now,
    ])?;
    Ok(Reserved::Granted(db.last_insert_rowid()))
}

/// Returns the money spent and reserved by a session and the sessions that share its budget.
fn of_session(db: &Connection, session: &str) -> rusqlite::Result<(Money, Money)> {
    let tree = lineage::delegation_tree();
    let spent = format!("{tree} SELECT SUM(charged) FROM hx_ledger WHERE session IN tree");
    let reserved = format!("{tree} SELECT SUM(amount) FROM hx_reservations WHERE session IN tree");
    Ok((sum(db, &spent, [session])?, sum(db, &reserved, [session])?))
}

/// Returns the money spent and reserved today. Reservations will be charged today or later, so all of them
/// count.
fn of_day(db: &Connection, now: f64) -> rusqlite::Result<(Money, Money)> {
    let spent = "SELECT SUM(charged) FROM hx_ledger WHERE day = date(?1, 'unixepoch', 'localtime')";
    let reserved = "SELECT SUM(amount) FROM hx_reservations";
    Ok((sum(db, spent, [now])?, sum(db, reserved, [])?))
}

fn sum(db: &Connection, query: &str, parameters: impl rusqlite::Params) -> rusqlite::Result<Money> {
    db.prepare_cached(query)?.query_row(parameters, |row| count(row, 0).map(Money::from_units))
}

/// Charges the reservations of dead processes in full: their calls may have been made.
fn charge_dead_processes(db: &Connection, is_alive: Liveness, now: f64) -> Result<(), StoreError> {
    let own = this_process();
    let lost = (|| {
        let mut find = db.prepare_cached("SELECT DISTINCT pid, started, boot FROM hx_reservations")?;
        let owners = find.query_map([], |row| {
            Ok(Owner { pid: row.get(0)?, started: count(row, 1)?, boot: row.get(2)? })
        })?;
        owners
            .filter(|owner| owner.as_ref().map_or(true, |owner| *owner != own && !is_alive(owner)))
            .collect::<rusqlite::Result<Vec<_>>>()
    })();
    for owner in lost.doing("find reservations of dead processes")? {
        charge(db, &owner, now).doing("count the calls of a dead process")?;
    }
    Ok(())
}

fn charge(db: &Connection, owner: &Owner, now: f64) -> rusqlite::Result<()> {
    let of_owner = params![owner.pid, stored(owner.started), owner.boot];
    let mut find = db.prepare_cached(
        "SELECT session, provider, model, task, amount FROM hx_reservations
         WHERE pid = ?1 AND started = ?2 AND boot = ?3",
    )?;
    let mut rows = find.query(of_owner)?;
    while let Some(row) = rows.next()? {
        let [session, provider, model, task] = texts(row)?;
        let key = LedgerKey { session: &session, provider: &provider, model: &model, task: &task };
        let amount = Money::from_units(count(row, 4)?);
        call_costs::add_to_ledger(db, &key, Amounts { charged: amount, uncertain: amount }, None, now)?;
    }
    db.prepare_cached("DELETE FROM hx_reservations WHERE pid = ?1 AND started = ?2 AND boot = ?3")?
        .execute(of_owner)?;
    Ok(())
}

fn texts<const N: usize>(row: &Row<'_>) -> rusqlite::Result<[String; N]> {
    let mut texts = std::array::from_fn(|_| String::new());
    for (place, text) in texts.iter_mut().enumerate() {
        *text = decode::text(row, place)?.unwrap_or_default();
    }
    Ok(texts)
}

fn spending_of(db: &Connection, session: Option<&str>, now: f64) -> rusqlite::Result<Spending> {
    let day: String = db.query_row("SELECT date(?1, 'unixepoch', 'localtime')", [now], |row| row.get(0))?;
    let (_, reserved) = match session {
        Some(session) => of_session(db, session)?,
        None => of_day(db, now)?,
    };
    let (tree, which, value) = match session {
        Some(session) => (lineage::delegation_tree(), "session IN tree", session),
        None => (String::new(), "day = ?1", day.as_str()),
    };
    let mut find = db.prepare(&format!(
        "{tree}
         SELECT provider, model, task, SUM(calls), SUM(input), SUM(output), SUM(cache_read), SUM(cache_write),
                SUM(reasoning), SUM(charged), SUM(uncertain), SUM(unpriced)
         FROM hx_ledger WHERE {which} GROUP BY 1, 2, 3 ORDER BY SUM(charged) DESC, SUM(calls) DESC, 1, 2, 3"
    ))?;
    let rows = find.query_map([value], ledger_row)?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Spending {
        day,
        charged: rows.iter().map(|row| row.charged).sum(),
        uncertain: rows.iter().map(|row| row.uncertain).sum(),
        reserved,
        rows,
    })
}

fn ledger_row(row: &Row<'_>) -> rusqlite::Result<SpendingRow> {
    let [provider, model, task] = texts(row)?;
    Ok(SpendingRow {
        provider,
        model,
        task,
        calls: count(row, 3)?,
        usage: Usage {
            input: count(row, 4)?,
            output: count(row, 5)?,
            cache_read: count(row, 6)?,
            cache_write: count(row, 7)?,
            reasoning: count(row, 8)?,
        },
        charged: Money::from_units(count(row, 9)?),
        uncertain: Money::from_units(count(row, 10)?),
        unpriced: count(row, 11)?,
    })
}
