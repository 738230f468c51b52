//! Integration tests of the command gate.

#![expect(clippy::print_stdout, reason = "rates and misses are printed for the reader of a failed test")]

mod bash;
mod corpus;
mod fuzz;
mod random;
mod support;
mod wrapping;
