#![doc = include_str!("../README.md")]
// Messages are written so that fields which the contract adds do not break them.
#![allow(clippy::needless_update)]

mod access;
mod book;
mod client;
mod error;
mod labeler;
mod options;
mod retry;
mod table;

pub use access::Access;
pub use client::{Client, Connection};
pub use error::{Error, Result};
pub use labeler::{Labeler, Queries};
pub use options::Options;
pub use retry::{Backoff, retry};
pub use table::{Table, matrix};
pub use tokio_stream::StreamExt;

/// The messages and stubs of `protos/svddtune/v1`.
#[allow(clippy::all, rustdoc::all)]
pub mod v1 {
    tonic::include_proto!("svddtune.v1");
}
