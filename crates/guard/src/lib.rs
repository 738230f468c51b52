//! What is safe to show, store and send: redaction and fences.
