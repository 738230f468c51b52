//! Questions about images, answered by the models of the auxiliary task `vision`.
//!
//! [`VisionClient`] implements `tools::Vision`. It shrinks an image before it is sent, and once more if it is refused as
//! too large. The order of the models is decided by `models`.

mod availability;
mod client;

pub use availability::vision_problem;
pub use client::{VisionClient, VisionModels};
