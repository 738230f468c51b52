//! Stand-ins for tests: a strict provider server, an in-process model, a temporary home, a fixed clock.
