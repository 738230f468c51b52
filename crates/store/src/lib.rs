//! Everything kept on disk between turns: the session database.
