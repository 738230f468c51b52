//! `hermes sessions reindex` and `optimize`: the file and its index in good order.

use super::progress::Progress;
use super::{counted, size};
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::term;
use hermes_store::SessionDb;
use serde_json::json;

pub(super) async fn reindex(store: &SessionDb, common: &Common) -> Result<Exit, Failure> {
    let mut progress = Progress::new("Indexing");
    let messages = store.reindex(|done, total| progress.show(done, total)).await?;
    drop(progress);
    if common.json {
        term::print_line(&json!({ "messages": messages }).to_string());
    } else {
        term::print_line(&format!("Indexed {}", counted(messages, "message")));
    }
    Ok(Exit::Answered)
}

pub(super) async fn optimize(store: &SessionDb, common: &Common) -> Result<Exit, Failure> {
    let done = store.optimize().await?;
    if common.json {
        let sizes = json!({ "bytes_before": done.bytes_before, "bytes_after": done.bytes_after });
        term::print_line(&sizes.to_string());
    } else {
        term::print_line(&format!("{} before, {} now", size(done.bytes_before), size(done.bytes_after)));
    }
    Ok(Exit::Answered)
}
