//! The supervisor's process: how it comes up, serves, and goes.

use super::connection::{self, Parting};
use super::error::SuperviseError;
use super::launch::{self, Orders, Stage};
use super::place::{Folder, Place};
use super::sweep::sweep;
use super::table::Table;
use crate::handover;
use rustix::process::{getpid, set_child_subreaper};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::sleep;

/// How long the supervisor before this one has to go.
const PREDECESSOR: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// How long a new supervisor waits at least for whoever started it.
const FIRST_CLIENT: Duration = Duration::from_secs(5);
/// How often the socket is looked after: cleaners of temporary files may take it away.
const CARE: Duration = Duration::from_secs(30);

/// What the program does when it was started as a supervisor. Its orders come on standard input;
/// whoever started it reads on standard output whether it came up. Call it first thing in `main`,
/// from the main thread and before anything was opened.
pub fn supervise() -> Result<(), SuperviseError> {
    handover::close_to_others();
    let orders = launch::read_orders(std::io::stdin())?;
    match orders.stage {
        Stage::Detach => launch::detach(orders),
        Stage::Serve => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(SuperviseError::io("start the supervisor"))?;
            let served = runtime.block_on(serve(&orders));
            if let Err(error) = &served {
                launch::report(Err(error));
            }
            served
        }
    }
}

async fn serve(orders: &Orders) -> Result<(), SuperviseError> {
    let place = orders.place.prepared()?;
    let _lock = lock(&place).await?;
    set_child_subreaper(Some(getpid()))
        .map_err(|error| SuperviseError::io("become the parent of stray processes")(error.into()))?;
    let table = Table::new(place, orders.settings);
    let watch = |kind| signal(kind).map_err(SuperviseError::io("watch for signals"));
    let (goers, go) = mpsc::unbounded_channel();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        tokio::spawn(pass_on(watch(kind)?, goers.clone()));
    }
    tokio::spawn(collect(watch(SignalKind::child())?, table.clone()));
    sweep(&table.place, &orders.settings).await?;
    let folder = Folder::create(&table.place.folder())?;
    let listener = listen(&folder)?;
    table.place.publish(&folder.path)?;
    launch::report(Ok(()));
    attend(&table, listener, folder, go).await;
    Ok(())
}

/// All signals that mean "go" are one.
async fn pass_on(mut signal: Signal, goers: mpsc::UnboundedSender<()>) {
    while signal.recv().await.is_some() {
        let _ = goers.send(());
    }
}

/// Collects every child that ends.
async fn collect(mut children: Signal, table: Arc<Table>) {
    while children.recv().await.is_some() {
        table.family.collect();
    }
}

/// There is one supervisor per home. The one before may still be leaving.
async fn lock(place: &Place) -> Result<std::fs::File, SuperviseError> {
    let deadline = tokio::time::Instant::now() + PREDECESSOR;
    loop {
        if let Some(lock) = place.try_lock_serving()? {
            return Ok(lock);
        }
        if tokio::time::Instant::now() >= deadline {
            let reason = "another supervisor of this home runs, but does not answer".to_owned();
            return Err(SuperviseError::Refused { reason });
        }
        sleep(POLL).await;
    }
}

/// Makes the socket. One that is there already belonged to a supervisor that was killed: we hold
/// the lock. Anything else is not ours to remove.
fn listen(folder: &Folder) -> Result<UnixListener, SuperviseError> {
    let path = folder.socket();
    if let Ok(found) = std::fs::symlink_metadata(&path) {
        if !found.file_type().is_socket() {
            let problem = "holds something that is not a socket where the socket should be".to_owned();
            return Err(SuperviseError::UnsafeFolder { path: folder.path.clone(), problem });
        }
        remove(&path);
    }
    UnixListener::bind(&path).map_err(SuperviseError::io("make the supervisor's socket"))
}

/// Accepts clients until there is nothing left to do, or until told to go.
async fn attend(
    table: &Arc<Table>,
    mut listener: UnixListener,
    mut folder: Folder,
    mut go: mpsc::UnboundedReceiver<()>,
) {
    let mut activity = table.activity.subscribe();
    let clients = Arc::new(AtomicUsize::new(0));
    let retiring = Arc::new(AtomicBool::new(false));
    let (mut told_to_go, mut idle) = (false, table.settings.idle.max(FIRST_CLIENT));
    loop {
        activity.mark_unchanged();
        let leaves = told_to_go || retiring.load(Ordering::Relaxed);
        let is_idle = table.is_empty() && (leaves || clients.load(Ordering::Relaxed) == 0);
        if is_idle && leaves {
            break;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    idle = table.settings.idle;
                    let client = Client::new(table, &clients, &retiring);
                    tokio::spawn(client.serve(stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "a client could not be accepted");
                    sleep(POLL).await;
                }
            },
            _ = activity.changed() => {}
            Some(()) = go.recv() => {
                told_to_go = true;
                table.end_all();
            }
            () = sleep(idle), if is_idle => break,
            () = sleep(CARE), if !is_idle => {
                if let Some(renewed) = look_after(table, &folder) {
                    (folder, listener) = renewed;
                }
            }
        }
    }
    // Whoever connected and was not accepted is hung up on, and starts the next supervisor.
    remove(&folder.socket());
    let _ = std::fs::remove_dir(&folder.path);
}

/// A client, counted as long as it is there.
struct Client {
    table: Arc<Table>,
    clients: Arc<AtomicUsize>,
    retiring: Arc<AtomicBool>,
}

impl Client {
    fn new(table: &Arc<Table>, clients: &Arc<AtomicUsize>, retiring: &Arc<AtomicBool>) -> Self {
        clients.fetch_add(1, Ordering::Relaxed);
        Self { table: table.clone(), clients: clients.clone(), retiring: retiring.clone() }
    }

    async fn serve(self, stream: UnixStream) {
        match connection::serve(stream, self.table.clone()).await {
            Ok(Parting::OtherVersion) => self.retiring.store(true, Ordering::Relaxed),
            Ok(Parting::Ordinary) => {}
            Err(error) => tracing::warn!(%error, "a client went away in disorder"),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.clients.fetch_sub(1, Ordering::Relaxed);
        self.table.activity.send_replace(());
    }
}

/// Makes the socket again if somebody took it or its folder away.
fn look_after(table: &Table, folder: &Folder) -> Option<(Folder, UnixListener)> {
    let is_there = std::fs::symlink_metadata(folder.socket()).is_ok() && folder.path.exists();
    if is_there {
        return None;
    }
    let renewed = Folder::create(&folder.path).and_then(|folder| Ok((listen(&folder)?, folder)));
    match renewed {
        Ok((listener, folder)) => Some((folder, listener)),
        Err(error) => {
            tracing::warn!(%error, spool = %table.place.spool.display(), "the supervisor's socket is gone");
            None
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "a socket stays");
    }
}
