use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, RpcStatusExt, StatusExt};

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call, or one item of a dialogue, failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Error {
    /// The status code of gRPC.
    pub code: Code,
    /// Stable, UPPER_SNAKE_CASE, e.g. `SESSION_NOT_FOUND`; empty if the transport failed.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// The values that the message mentions.
    pub metadata: BTreeMap<String, String>,
    /// Each invalid field and what is wrong with it.
    pub violations: Vec<(String, String)>,
    /// How long to wait before another attempt, if the service says so.
    pub retry_after: Option<Duration>,
}

impl Error {
    pub(crate) fn new(code: Code, reason: &str, message: impl Into<String>) -> Self {
        Error {
            code,
            reason: reason.into(),
            message: message.into(),
            metadata: BTreeMap::new(),
            violations: Vec::new(),
            retry_after: None,
        }
    }

    /// Whether the same call may succeed later: the service or the connection was away.
    pub fn is_transient(&self) -> bool {
        match self.code {
            Code::Unavailable => true,
            // With a reason they come from the service, without one from the transport or a proxy.
            Code::Cancelled | Code::DeadlineExceeded | Code::Internal | Code::Unknown => {
                self.reason.is_empty()
            }
            _ => false,
        }
    }

    /// Whether a stream that was served may go on with another token.
    pub(crate) fn is_expiry(&self) -> bool {
        self.code == Code::Unauthenticated
    }

    fn with(mut self, details: ErrorDetails) -> Self {
        if let Some(info) = details.error_info() {
            self.reason = info.reason.clone();
            self.metadata = info.metadata.clone().into_iter().collect();
        }
        if let Some(request) = details.bad_request() {
            let pairs = request.field_violations.iter();
            self.violations =
                pairs.map(|one| (one.field.clone(), one.description.clone())).collect();
        }
        self.retry_after = details.retry_info().and_then(|retry| retry.retry_delay);
        self
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let details = status.get_error_details();
        Error::new(status.code(), "", status.message()).with(details)
    }
}

impl From<&tonic_types::Status> for Error {
    fn from(status: &tonic_types::Status) -> Self {
        let details = status.get_error_details();
        Error::new(Code::from_i32(status.code), "", status.message.clone()).with(details)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.message.is_empty() { self.code.description() } else { &self.message };
        match self.reason.as_str() {
            "" => write!(f, "{text}"),
            reason => write!(f, "{text} [{reason}]"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_of_a_status_are_read() {
        let mut details = ErrorDetails::with_error_info(
            "INVALID_FIELD",
            "svddtune.github.io",
            [("field".into(), "config.k".into())],
        );
        details.set_retry_info(Some(Duration::from_secs(2)));
        details.add_bad_request_violation("config.k", "must be positive");
        let status = Status::with_error_details(Code::InvalidArgument, "k is 0", details);
        let error = Error::from(status);
        assert_eq!(error.to_string(), "k is 0 [INVALID_FIELD]");
        assert_eq!(error.metadata["field"], "config.k");
        assert_eq!(error.violations, [("config.k".into(), "must be positive".into())]);
        assert_eq!(error.retry_after, Some(Duration::from_secs(2)));
        assert!(!error.is_transient());
    }

    #[test]
    fn failure_of_the_transport_is_transient_and_a_bug_of_the_service_is_not() {
        assert!(Error::from(Status::unknown("connection reset")).is_transient());
        let details = ErrorDetails::with_error_info("INTERNAL", "svddtune.github.io", []);
        let bug = Status::with_error_details(Code::Internal, "a bug", details);
        assert!(!Error::from(bug).is_transient());
    }
}
