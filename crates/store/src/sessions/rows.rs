//! Conversion between messages and the columns of their rows.

pub(super) mod checksum;
pub(super) mod counts;
pub(super) mod decode;
pub(super) mod encode;
