//! Scripts on files: their output, their limits, and their end with the call.

use crate::servers;
use hermes_exec::{Backend, Ended, Exchange, Exchanged, Local};
use hermes_places::{FarBackend, Place};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

fn exchange(script: &str) -> Exchange {
    Exchange {
        script: script.to_owned(),
        arguments: String::new(),
        input: String::new(),
        timeout: Duration::from_secs(60),
        most_output: 64 * 1024,
    }
}

struct Bench {
    backend: FarBackend,
    number: String,
}

impl Bench {
    fn new(place: Arc<Place>) -> Self {
        let number = format!("{}", 700_000 + std::process::id() % 100_000);
        Self { backend: FarBackend::new(place, Arc::new(Local)), number }
    }

    async fn run(&self, exchange: Exchange) -> Exchanged {
        self.backend.exchange(exchange, &CancellationToken::new()).await.unwrap()
    }

    /// A script that does not end by itself, and can be found.
    fn endless(&self) -> Exchange {
        exchange(&format!("echo begun; sleep {} & wait", self.number))
    }

    /// Waits until the endless script runs, or until no process of it is left.
    async fn wait_until(&self, runs: bool) {
        let look = format!(
            "for d in /proc/[0-9]*; do mapfile -d '' -t v <$d/cmdline; \
             [ \"${{v[*]}}\" != 'sleep {}' ] || echo alive; done",
            self.number
        );
        let begun = Instant::now();
        while (self.run(exchange(&look)).await == Exchanged::Done(String::new())) == runs {
            assert!(begun.elapsed() < Duration::from_secs(20), "expected that it runs: {runs}");
        }
    }
}

async fn behaves(place: Arc<Place>) {
    let bench = Bench::new(place);
    let said = |text: &str| Exchanged::Done(text.to_owned());
    assert_eq!(bench.run(exchange("echo out; echo err >&2; exit 3")).await, said("out\n"));
    assert_eq!(bench.run(exchange("cat; read -t 0 && echo over")).await, said("over\n"));
    let arguments = "'a b' $'\\x27\\n' '$(x)'".to_owned();
    let with_arguments = Exchange { arguments, ..exchange("printf '%s|' \"$@\"") };
    assert_eq!(bench.run(with_arguments).await, said("a b|'\n|$(x)|"));
    // More than a command could take, with an input that stays open.
    let input = "0123456789".repeat(300_000);
    let script = "head -c 3000000 | sha256sum | cut -c 1-8; read -t 0 || echo open";
    assert_eq!(bench.run(Exchange { input, ..exchange(script) }).await, said("6ca41633\nopen\n"));
    let much = exchange("head -c 200000 /dev/zero | tr '\\0' x");
    assert_eq!(bench.run(much).await, Exchanged::Lost(Ended::Exited));

    let late = Exchange { timeout: Duration::from_secs(2), ..bench.endless() };
    assert_eq!(bench.run(late).await, Exchanged::Lost(Ended::TimedOut));
    bench.wait_until(false).await;
    let cancel = CancellationToken::new();
    let endless = bench.backend.exchange(bench.endless(), &cancel);
    let stop = async {
        bench.wait_until(true).await;
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(endless, stop);
    assert_eq!(ended.unwrap(), Exchanged::Lost(Ended::Cancelled));
    bench.wait_until(false).await;
}

#[tokio::test]
async fn ssh_exchanges() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(place) = servers::ssh(temporary.path()) {
        behaves(place).await;
    }
}

#[tokio::test]
async fn podman_exchanges() {
    let temporary = tempfile::tempdir().unwrap();
    if let Some(container) = servers::container("podman", "exchanges", temporary.path()) {
        behaves(container.place.clone()).await;
    }
}

#[tokio::test]
async fn singularity_stand_in_exchanges() {
    let temporary = tempfile::tempdir().unwrap();
    behaves(servers::singularity(temporary.path())).await;
}

/// A container that was removed starts no script; it is made again, and the script runs once.
#[tokio::test]
async fn place_that_went_away_is_made_ready_again() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(container) = servers::container("podman", "exchanges-again", temporary.path()) else { return };
    let bench = Bench::new(container.place.clone());
    let count = || exchange("echo x >>/tmp/count; wc -l </tmp/count");
    assert_eq!(bench.run(count()).await, Exchanged::Done("1\n".to_owned()));
    assert_eq!(bench.run(count()).await, Exchanged::Done("2\n".to_owned()));
    container.engine(&["rm", "-f", &container.name]);
    assert_eq!(bench.run(count()).await, Exchanged::Done("1\n".to_owned()));
}
