//! Keeping a conversation inside the model's window.
