//! Running commands somewhere.
