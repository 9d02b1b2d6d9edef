use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tonic::{Code, Response, Status};

use crate::{Error, Result};

/// Longest time for one attempt of a unary call.
const ATTEMPT: Duration = Duration::from_secs(30);

/// Exponential delays with jitter, from 0.1 s to 5 s, so that many clients do not return at once.
#[derive(Clone, Debug, Default)]
pub struct Backoff {
    attempt: i32,
}

impl Backoff {
    /// Returns the next delay, at least what the service asked for.
    pub fn next(&mut self, asked: Option<Duration>) -> Duration {
        let ceiling = (0.1 * 2f64.powi(self.attempt)).min(5.0);
        self.attempt = (self.attempt + 1).min(16);
        let delay = Duration::from_secs_f64(ceiling * (0.5 + 0.5 * fastrand::f64()));
        delay.max(asked.unwrap_or_default())
    }
}

/// Makes a unary call until it succeeds, fails for good, or `patience` is over.
///
/// Use it for calls that may be repeated: those that only read, and those with a `request_id`.
pub async fn retry<T, F>(patience: Duration, mut call: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = std::result::Result<Response<T>, Status>>,
{
    let end = Instant::now() + patience;
    let mut backoff = Backoff::default();
    loop {
        let error: Error = match timeout(ATTEMPT, call()).await {
            Ok(Ok(response)) => return Ok(response.into_inner()),
            Ok(Err(status)) => status.into(),
            Err(_) => Error::new(Code::DeadlineExceeded, "", "the service did not answer in time"),
        };
        let delay = backoff.next(error.retry_after);
        if !error.is_transient() || Instant::now() + delay > end {
            return Err(error);
        }
        sleep(delay).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_a_limit_and_are_never_shorter_than_asked() {
        let mut backoff = Backoff::default();
        for ceiling in [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0] {
            let delay = backoff.next(None).as_secs_f64();
            assert!(ceiling / 2.0 <= delay && delay <= ceiling, "{delay} of {ceiling}");
        }
        let asked = Duration::from_secs(9);
        assert_eq!(backoff.next(Some(asked)), asked);
    }
}
