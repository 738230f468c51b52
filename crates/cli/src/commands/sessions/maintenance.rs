//! `hermes sessions reindex` and `optimize`.

use super::progress::Progress;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_store::SessionDb;
use hermes_terminal::text::{counted, size};
use hermes_terminal::{print, term};
use serde_json::json;

pub(super) async fn reindex(store: &SessionDb, common: &Common) -> Result<Exit, Failure> {
    let mut progress = Progress::new("Indexing");
    let messages = store.reindex(|done, total| progress.show(done, total)).await?;
    drop(progress);
    if common.json {
        print::json(&json!({ "messages": messages }));
    } else {
        term::print_line(&format!("Indexed {}", counted(messages, "message")));
    }
    Ok(Exit::Answered)
}

pub(super) async fn optimize(store: &SessionDb, common: &Common) -> Result<Exit, Failure> {
    let done = store.optimize().await?;
    if common.json {
        let sizes = json!({ "bytes_before": done.bytes_before, "bytes_after": done.bytes_after });
        print::json(&sizes);
    } else {
        term::print_line(&format!("{} before, {} now", size(done.bytes_before), size(done.bytes_after)));
    }
    Ok(Exit::Answered)
}
