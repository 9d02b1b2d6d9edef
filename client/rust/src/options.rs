use std::time::Duration;

use crate::v1::LabelerKind;

/// How a labeler takes part.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The labeler's name: 1 to 64 letters, digits and characters of `._@-`.
    pub labeler: String,
    /// Whether the labeler is a person or a program.
    pub kind: LabelerKind,
    /// Sessions to serve; none means any session, including those created later.
    pub sessions: Vec<String>,
    /// Number of queries to hold at once.
    pub credit: u32,
    /// Of an earlier dialogue of this labeler, whose queries are then assigned again.
    pub resume_token: String,
    /// How long to try for another stream after one was lost.
    pub patience: Duration,
}

impl Options {
    /// A program that serves one session, one query at a time.
    pub fn new(labeler: impl Into<String>, session: impl Into<String>) -> Self {
        Options {
            labeler: labeler.into(),
            kind: LabelerKind::Automated,
            sessions: vec![session.into()],
            credit: 1,
            resume_token: String::new(),
            patience: Duration::from_secs(600),
        }
    }
}
