//! Leaves the supervisor without an async runtime: one request and its answer, with blocking calls.

use super::client::{is_absent, open_folder};
use super::error::SuperviseError;
use super::frame::{encoded, parse};
use super::paths::SupervisorPaths;
use super::protocol::{Leaving, Reply, Request, VERSION};
use super::spec::Owner;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(1);
const LONGEST: u64 = 64 * 1024;

/// Ends all commands of `owner` except detached ones.
///
/// The directory is private to this user, so the peer is not checked again.
pub(crate) fn leave_now(paths: &SupervisorPaths, owner: &Owner) -> Result<(), SuperviseError> {
    let Some(folder) = open_folder(paths)? else {
        return Ok(());
    };
    let mut stream = match UnixStream::connect(folder.socket()) {
        Err(error) if is_absent(&error) => return Ok(()),
        connected => connected.map_err(SuperviseError::io("connect to the supervisor"))?,
    };
    let limit = |set: std::io::Result<()>| set.map_err(SuperviseError::io("set a time limit"));
    limit(stream.set_read_timeout(Some(PATIENCE)))?;
    limit(stream.set_write_timeout(Some(PATIENCE)))?;
    let leave = Request::Leave { owner: owner.clone(), session: None, leaving: Leaving::Session };
    let both = [encoded(&Request::Hello { version: VERSION })?, encoded(&leave)?].concat();
    stream.write_all(&both).map_err(SuperviseError::io("write to the supervisor's socket"))?;
    wait_for_answer(stream)
}

/// After the answer, the supervisor carries the request out even if this process is gone.
fn wait_for_answer(stream: UnixStream) -> Result<(), SuperviseError> {
    let mut bytes = Vec::new();
    let mut stream = stream.take(LONGEST);
    let mut buffer = [0; 1024];
    loop {
        while let Some((frame, used)) = parse(&bytes)? {
            match frame.message()? {
                Reply::Hello { version: VERSION } => {}
                Reply::Hello { version: theirs } => {
                    return Err(SuperviseError::OtherVersion { ours: VERSION, theirs });
                }
                _ => return Ok(()),
            }
            bytes.drain(..used);
        }
        let count =
            stream.read(&mut buffer).map_err(SuperviseError::io("read from the supervisor's socket"))?;
        if count == 0 {
            return Ok(());
        }
        bytes.extend(&buffer[..count]);
    }
}
