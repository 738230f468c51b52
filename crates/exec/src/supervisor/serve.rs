//! The supervisor process: start, service, exit.

use super::cleanup::clean_up;
use super::connection::{self, ConnectionEnd};
use super::error::SuperviseError;
use super::launch::{self, Orders, Stage};
use super::paths::{Folder, SupervisorPaths};
use super::table::Table;
use crate::environment_handover;
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

/// The time for which a previous supervisor may take to exit.
const PREDECESSOR: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// The minimum time for which a new supervisor waits for its first client.
const FIRST_CLIENT: Duration = Duration::from_secs(5);
/// The interval of checks of the socket, which cleaners of temporary files may remove.
const CARE: Duration = Duration::from_secs(30);

/// Runs the supervisor. Its orders come on standard input; it reports its start on standard output. Must be
/// called first in `main`, from the main thread and before any file is opened.
pub fn supervise() -> Result<(), SuperviseError> {
    environment_handover::close_to_others();
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
    let paths = orders.paths.prepared()?;
    let _lock = lock(&paths).await?;
    set_child_subreaper(Some(getpid()))
        .map_err(|error| SuperviseError::io("become the parent of stray processes")(error.into()))?;
    let table = Table::new(paths, orders.settings);
    let watch = |kind| signal(kind).map_err(SuperviseError::io("watch for signals"));
    let (goers, go) = mpsc::unbounded_channel();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        tokio::spawn(pass_on(watch(kind)?, goers.clone()));
    }
    tokio::spawn(collect(watch(SignalKind::child())?, table.clone()));
    clean_up(&table.paths, &orders.settings).await?;
    let folder = Folder::create(&table.paths.folder())?;
    let listener = listen(&folder)?;
    table.paths.publish(&folder.path)?;
    launch::report(Ok(()));
    attend(&table, listener, folder, go).await;
    Ok(())
}

/// Merges all signals that mean "exit".
async fn pass_on(mut signal: Signal, goers: mpsc::UnboundedSender<()>) {
    while signal.recv().await.is_some() {
        let _ = goers.send(());
    }
}

/// Collects every child that exits.
async fn collect(mut children: Signal, table: Arc<Table>) {
    while children.recv().await.is_some() {
        table.processes.collect();
    }
}

/// Takes the lock: there is one supervisor per home directory. The previous one may still be exiting.
async fn lock(paths: &SupervisorPaths) -> Result<std::fs::File, SuperviseError> {
    let deadline = tokio::time::Instant::now() + PREDECESSOR;
    loop {
        if let Some(lock) = paths.try_lock_serving()? {
            return Ok(lock);
        }
        if tokio::time::Instant::now() >= deadline {
            let reason = "another supervisor of this home runs, but does not answer".to_owned();
            return Err(SuperviseError::Refused { reason });
        }
        sleep(POLL).await;
    }
}

/// Creates the socket. An existing one belonged to a supervisor that was killed, because we hold the lock. Any
/// other file is not removed.
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

/// Accepts clients until there is nothing left to do, or until a signal to exit.
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
    // A client that connected and was not accepted is disconnected, and starts the next supervisor.
    remove(&folder.socket());
    let _ = std::fs::remove_dir(&folder.path);
}

/// A client, counted while it is connected.
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
            Ok(ConnectionEnd::OtherVersion) => self.retiring.store(true, Ordering::Relaxed),
            Ok(ConnectionEnd::Ordinary) => {}
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

/// Creates the socket again if it or its directory was removed.
fn look_after(table: &Table, folder: &Folder) -> Option<(Folder, UnixListener)> {
    let is_there = std::fs::symlink_metadata(folder.socket()).is_ok() && folder.path.exists();
    if is_there {
        return None;
    }
    let renewed = Folder::create(&folder.path).and_then(|folder| Ok((listen(&folder)?, folder)));
    match renewed {
        Ok((listener, folder)) => Some((folder, listener)),
        Err(error) => {
            tracing::warn!(%error, spool = %table.paths.spool.display(), "the supervisor's socket is gone");
            None
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path) {
        tracing::warn!(%error, path = %path.display(), "a socket stays");
    }
}
