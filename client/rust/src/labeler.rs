use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_stream::Stream;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Code;

use crate::book::{Book, closed};
use crate::v1::converse_request::Message;
use crate::v1::oracle_service_client::OracleServiceClient;
use crate::v1::{Ack, Answer, Assign, FinishReason, Release, Skip, SkipMode, Verdict};
use crate::{Backoff, Connection, Error, Options, Result};

/// Longest wait for a Welcome, the first one with all attempts.
const WELCOME: Duration = Duration::from_secs(20);
/// Longest wait for the end of a stream after Drain or Bye.
const LAST_WORDS: Duration = Duration::from_secs(5);

struct Shared {
    book: Mutex<Book>,
    /// Notified when there is a new item.
    changed: Notify,
}

impl Shared {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("no holder of the lock panics")
    }
}

/// Answers the queries of a dialogue that reconnects by itself. Clones share the dialogue.
///
/// Each method returns once the service has stored what was sent. What has no Ack when the
/// connection breaks is sent again on the next stream, with the same id, so that it has one effect.
#[derive(Clone)]
pub struct Labeler(Arc<Shared>);

impl Labeler {
    /// Opens a dialogue. It runs until `close`, or until its `Queries` are dropped; open leases then
    /// run out.
    pub fn open(channel: Connection, options: Options) -> (Labeler, Queries) {
        let book = Mutex::new(Book::new(options));
        let shared = Arc::new(Shared { book, changed: Notify::new() });
        let task = tokio::spawn(run(shared.clone(), channel));
        (Labeler(shared.clone()), Queries { shared, task })
    }

    /// Answers a query.
    pub async fn answer(&self, query: &Assign, verdict: Verdict) -> Result<Ack> {
        let answer = Answer {
            session: query.session.clone(),
            query: query.query,
            lease_id: query.lease_id.clone(),
            verdict: verdict.into(),
            ..Default::default()
        };
        self.send(Message::Answer(answer)).await
    }

    /// Declines a query.
    pub async fn skip(&self, query: &Assign, mode: SkipMode) -> Result<Ack> {
        let (session, lease_id) = (query.session.clone(), query.lease_id.clone());
        let skip = Skip {
            session,
            query: query.query,
            lease_id,
            mode: mode.into(),
            ..Default::default()
        };
        self.send(Message::Skip(skip)).await
    }

    /// Gives a query back to the front of the queue.
    pub async fn release(&self, query: &Assign) -> Result<Ack> {
        let (session, lease_ids) = (query.session.clone(), vec![query.lease_id.clone()]);
        self.send(Message::Release(Release { session, lease_ids, ..Default::default() })).await
    }

    /// Sends anything else: an answer with a confidence or to no query, a correction, a retraction,
    /// another credit. An answer without an id gets one.
    pub async fn send(&self, item: Message) -> Result<Ack> {
        let settled = self.0.book().submit(item);
        self.0.changed.notify_one();
        settled.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Whether a query is still this labeler's. The answer to a lost one may not count.
    pub fn is_held(&self, query: &Assign) -> bool {
        self.0.book().is_held(query)
    }

    /// Why a session asks no further queries; `None` while it may ask some.
    pub fn finish_reason(&self, session: &str) -> Option<FinishReason> {
        self.0.book().finish_reason(session)
    }

    /// Where a later dialogue of this labeler can continue: see [`Options::resume_token`].
    pub fn resume_token(&self) -> String {
        self.0.book().options.resume_token.clone()
    }

    /// Gives all leases back and ends the dialogue.
    pub async fn close(self, mut queries: Queries) {
        let said = self.0.book().bye();
        if said {
            _ = timeout(LAST_WORDS, &mut queries.task).await;
        }
    }
}

/// The queries of a labeler as a stream. It ends when the sessions ask no further queries; an error
/// that ends the dialogue is its last item.
pub struct Queries {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Stream for Queries {
    type Item = Result<Assign>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut book = self.shared.book();
        match (book.take(), book.error.take()) {
            (Some(query), error) => {
                book.error = error;
                Poll::Ready(Some(Ok(query)))
            }
            (None, Some(error)) => Poll::Ready(Some(Err(error))),
            (None, None) if book.closed || book.is_finished() => Poll::Ready(None),
            (None, None) => {
                book.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.book().fail(closed());
    }
}

/// Holds one stream after another until the dialogue is closed.
async fn run(shared: Arc<Shared>, channel: Connection) {
    let mut backoff = Backoff::default();
    let (mut lost_at, mut patience) = (Instant::now(), WELCOME);
    loop {
        while shared.book().is_idle() {
            shared.changed.notified().await;
        }
        let opened_at = Instant::now();
        let error = one_stream(&shared, channel.clone()).await.err();
        let delay = {
            let mut book = shared.book();
            if book.welcomed {
                (backoff, lost_at) = (Backoff::default(), Instant::now());
                patience = book.options.patience;
            }
            let served = book.welcomed;
            (book.outbox, book.welcomed) = (None, false);
            if book.closed {
                return;
            }
            if let Some(last) = &error
                // (A token that has expired since: the next stream asks for another.)
                && (!(last.is_transient() || served && last.is_expiry())
                    || lost_at.elapsed() > patience)
            {
                book.error = error.clone();
                return book.fail(last.clone());
            }
            // A server that drains at once is treated like one that is away.
            match book.draining && opened_at.elapsed() > Duration::from_millis(500) {
                true => Duration::ZERO,
                false => backoff.next(error.and_then(|error| error.retry_after)),
            }
        };
        sleep(delay).await;
    }
}

/// Holds one stream until it ends.
async fn one_stream(shared: &Shared, channel: Connection) -> Result<()> {
    let (outbox, requests) = mpsc::unbounded_channel();
    shared.book().hello(outbox);
    let mut oracle = OracleServiceClient::new(channel);
    let call = oracle.converse(UnboundedReceiverStream::new(requests));
    let late = Error::new(Code::Unavailable, "", "the service sent no Welcome");
    let mut responses = timeout(WELCOME, call).await.map_err(|_| late.clone())??.into_inner();
    let mut due = Instant::now() + WELCOME;
    loop {
        tokio::select! {
            response = responses.message() => {
                let Some(response) = response? else { return Ok(()) };
                let mut book = shared.book();
                let before = (book.welcomed, book.draining);
                book.receive(response);
                if book.draining && !before.1 {
                    book.outbox = None; // what is under way may still get its Ack
                    due = Instant::now() + LAST_WORDS;
                } else if book.welcomed && !before.0 {
                    due = Instant::now() + book.heartbeat;
                }
            }
            () = sleep_until(due) => {
                let mut book = shared.book();
                match (book.draining, book.welcomed) {
                    (true, _) => return Ok(()),
                    (_, false) => return Err(late),
                    _ => book.extend(),
                }
                due = Instant::now() + book.heartbeat;
            }
        }
    }
}
