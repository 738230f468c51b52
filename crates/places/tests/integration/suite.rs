//! The conformance suite: one list of cases for every backend.

use crate::bench::{Bench, same};
use crate::cases::CASES;
use crate::commands::COMMANDS;
use hermes_places::{Check, run_checks};

/// Runs every case and reports all that fail.
pub(crate) async fn conforms(bench: Bench) {
    let mut failures = Vec::new();
    for &(name, script, text, code) in COMMANDS {
        let verdict = match bench.run(script).await {
            Ok(output) => same((output.text.as_str(), output.exit_code), (text, code)),
            Err(error) => Err(error),
        };
        failures.extend(verdict.err().map(|error| format!("{name}: {error}")));
        assert!(failures.len() < COMMANDS.len() / 2, "{}", failures.join("\n"));
    }
    for (name, case) in CASES {
        failures.extend(case(&bench).await.err().map(|error| format!("{name}: {error}")));
    }
    let checked = check(&bench).await;
    failures.extend(checked);
    assert!(failures.is_empty(), "{} cases failed:\n{}", failures.len(), failures.join("\n"));
}

/// The checks of `hermes backend test` must pass where the suite does.
async fn check(bench: &Bench) -> Vec<String> {
    let check = Check {
        directory: bench.dir.clone(),
        env: bench.env.clone(),
        scratch: bench.scratch.path().to_owned(),
    };
    let checked = run_checks(bench.backend.as_ref(), &check).await;
    checked
        .into_iter()
        .filter_map(|one| one.result.err().map(|error| format!("{}: {error}", one.name)))
        .collect()
}

#[test]
fn suite_has_enough_cases() {
    assert!(COMMANDS.len() + CASES.len() >= 40);
}
