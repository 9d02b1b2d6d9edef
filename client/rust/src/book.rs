//! The labelling dialogue from the client's side, without I/O.
//!
//! A `Book` outlives its streams: what has no Ack is sent again on the next one, with the same ids,
//! so that it has one effect.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::task::Waker;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tonic::Code;

use crate::v1::converse_request::Message as Request;
use crate::v1::converse_response::Message as Response;
use crate::v1::{Ack, Assign, Bye, ConverseRequest, ConverseResponse, Extend, FinishReason, Hello};
use crate::{Error, Options, Result};

/// After these reasons the query is no longer this labeler's; after all others it can answer again.
const QUERY_IS_GONE: [&str; 6] = [
    "LEASE_LOST",
    "UNKNOWN_QUERY",
    "ALREADY_ANSWERED",
    "SESSION_NOT_ACTIVE",
    "SESSION_NOT_FOUND",
    "LABELER_WITHDRAWN",
];

/// A query: its session and its number.
type Key = (String, u32);

/// Something that was sent, or will be, and has no Ack yet.
struct Item {
    request: ConverseRequest,
    query: Option<Key>,
    lease_id: String,
    done: oneshot::Sender<Result<Ack>>,
}

/// What one labeler knows of its dialogue.
#[derive(Default)]
pub(crate) struct Book {
    pub options: Options,
    pub heartbeat: Duration,
    pub welcomed: bool,
    pub draining: bool,
    pub closed: bool,
    /// What ended the dialogue; the stream of queries yields it once.
    pub error: Option<Error>,
    /// Where the messages of the present stream go.
    pub outbox: Option<mpsc::UnboundedSender<ConverseRequest>>,
    /// Wakes whoever waits for a query.
    pub waker: Option<Waker>,
    held: HashMap<Key, Assign>,
    /// Held queries that the caller has not seen.
    unseen: VecDeque<Key>,
    pending: Vec<Item>,
    finished: HashMap<String, FinishReason>,
}

impl Book {
    pub fn new(options: Options) -> Self {
        Book { options, ..Default::default() }
    }

    /// Opens a stream, whose messages go to `outbox`.
    pub fn hello(&mut self, outbox: mpsc::UnboundedSender<ConverseRequest>) {
        (self.welcomed, self.draining) = (false, false);
        self.outbox = Some(outbox);
        let options = &self.options;
        let hello = Hello {
            min_protocol_version: 1,
            max_protocol_version: 1,
            labeler: options.labeler.clone(),
            kind: options.kind.into(),
            sessions: options.sessions.clone(),
            resume_token: options.resume_token.clone(),
            credit: options.credit,
            client_name: "svddtune-rust".into(),
            client_version: env!("CARGO_PKG_VERSION").into(),
            ..Default::default()
        };
        self.send(message(Request::Hello(hello), ""));
    }

    /// Gives all leases back; returns whether there is a stream to say it on.
    pub fn bye(&mut self) -> bool {
        self.closed = true;
        if self.welcomed {
            self.send(message(Request::Bye(Bye::default()), ""));
        }
        self.outbox = None;
        self.welcomed
    }

    /// Sends `item`, now and on further streams, until it has an Ack.
    pub fn submit(&mut self, mut item: Request) -> oneshot::Receiver<Result<Ack>> {
        let (done, settled) = oneshot::channel();
        if self.closed {
            _ = done.send(Err(closed()));
            return settled;
        }
        let mut id = format!("{:032x}", fastrand::u128(..));
        if let Request::Answer(crate::v1::Answer { answer_id, .. })
        | Request::Retract(crate::v1::Retract { answer_id, .. }) = &mut item
        {
            match answer_id.is_empty() {
                true => *answer_id = id.clone(),
                false => id = answer_id.clone(),
            }
        }
        let (query, lease_id) = match &item {
            Request::Answer(one) if one.query > 0 => {
                (Some((one.session.clone(), one.query)), one.lease_id.clone())
            }
            Request::Skip(one) => (Some((one.session.clone(), one.query)), one.lease_id.clone()),
            Request::Release(one) if one.lease_ids.len() == 1 => {
                let lease_id = one.lease_ids[0].clone();
                let held = self.held.iter().find(|(_, query)| query.lease_id == lease_id);
                (held.map(|(key, _)| key.clone()), lease_id)
            }
            _ => (None, String::new()),
        };
        let request = message(item, &id);
        if self.welcomed {
            self.send(request.clone());
        }
        self.unseen.retain(|key| Some(key) != query.as_ref());
        self.pending.push(Item { request, query, lease_id, done });
        settled
    }

    /// Extends what is held, by name: the Ack tells which leases are lost.
    pub fn extend(&mut self) {
        let open = self.held.iter().filter(|(key, _)| !self.is_pending(key));
        let lease_ids: Vec<_> = open.map(|(_, query)| query.lease_id.clone()).collect();
        if !lease_ids.is_empty() {
            let extend = Extend { lease_ids, ..Default::default() };
            self.send(message(Request::Extend(extend), "heartbeat"));
        }
    }

    /// Takes in a message of the service.
    pub fn receive(&mut self, response: ConverseResponse) {
        match response.message {
            Some(Response::Welcome(welcome)) => {
                self.welcomed = true;
                self.options.resume_token = welcome.resume_token;
                self.heartbeat = Duration::from_secs_f64(welcome.heartbeat_seconds.max(0.1));
                self.pending.iter().for_each(|item| self.send(item.request.clone()));
                self.extend();
            }
            Some(Response::Assign(query)) => {
                let key = (query.session.clone(), query.query);
                self.finished.remove(&query.session);
                let lease_id = query.lease_id.clone();
                let before = self.held.insert(key.clone(), query);
                let known = before.is_some_and(|before| before.lease_id == lease_id);
                if !known && !self.is_pending(&key) && !self.unseen.contains(&key) {
                    self.unseen.push_back(key);
                }
            }
            Some(Response::Ack(ack)) => {
                self.lose(|query| ack.lost_lease_ids.contains(&query.lease_id));
                if let Some(item) = self.settle(&ack.request_id, true) {
                    _ = item.done.send(Ok(ack));
                }
            }
            Some(Response::Reject(reject)) => {
                let error = reject.status.as_ref().map_or_else(closed, Error::from);
                let gone = QUERY_IS_GONE.contains(&error.reason.as_str());
                if let Some(item) = self.settle(&reject.request_id, gone) {
                    _ = item.done.send(Err(error));
                }
            }
            Some(Response::Revoke(revoke)) => self.lose(|query| query.lease_id == revoke.lease_id),
            Some(Response::Drain(_)) => self.draining = true,
            Some(Response::Finished(finished)) => {
                let reason = finished.reason();
                let session = finished.session.unwrap_or_default().name;
                self.lose(|query| query.session == session);
                self.finished.insert(session, reason);
            }
            Some(Response::Progress(_)) | None => {} // None: an item of a later version
        }
        self.wake();
    }

    /// The next query that the caller has not seen.
    pub fn take(&mut self) -> Option<Assign> {
        self.unseen.pop_front().map(|key| self.held[&key].clone())
    }

    /// Whether a query is still this labeler's.
    pub fn is_held(&self, query: &Assign) -> bool {
        let held = self.held.get(&(query.session.clone(), query.query));
        held.is_some_and(|held| held.lease_id == query.lease_id)
    }

    pub fn finish_reason(&self, session: &str) -> Option<FinishReason> {
        self.finished.get(session).copied()
    }

    /// Whether nothing more is asked in any of the named sessions.
    pub fn is_finished(&self) -> bool {
        let sessions = &self.options.sessions;
        !sessions.is_empty() && sessions.iter().all(|name| self.finished.contains_key(name))
    }

    /// Whether a stream is of no use now.
    pub fn is_idle(&self) -> bool {
        self.is_finished() && self.pending.is_empty()
    }

    /// Ends the dialogue and all that has no Ack yet.
    pub fn fail(&mut self, error: Error) {
        self.closed = true;
        for item in mem::take(&mut self.pending) {
            _ = item.done.send(Err(error.clone()));
        }
        self.wake();
    }

    fn send(&self, request: ConverseRequest) {
        if let Some(outbox) = &self.outbox {
            _ = outbox.send(request); // a stream that has just ended: the next one sends it again
        }
    }

    /// Takes an item out of the book; its query is `gone`, unless it was leased anew meanwhile.
    fn settle(&mut self, request_id: &str, gone: bool) -> Option<Item> {
        let at = self.pending.iter().position(|item| item.request.request_id == request_id)?;
        let item = self.pending.remove(at);
        if let Some(key) = &item.query
            && let Some(held) = self.held.get(key)
        {
            if held.lease_id != item.lease_id {
                self.unseen.push_back(key.clone());
            } else if gone {
                self.held.remove(key);
            }
        }
        Some(item)
    }

    fn lose(&mut self, lost: impl Fn(&Assign) -> bool) {
        self.held.retain(|_, query| !lost(query));
        self.unseen.retain(|key| self.held.contains_key(key));
    }

    fn is_pending(&self, key: &Key) -> bool {
        self.pending.iter().any(|item| item.query.as_ref() == Some(key))
    }

    fn wake(&mut self) {
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}

fn message(request: Request, request_id: &str) -> ConverseRequest {
    ConverseRequest {
        message: Some(request),
        request_id: request_id.into(),
        ..Default::default()
    }
}

pub(crate) fn closed() -> Error {
    Error::new(Code::FailedPrecondition, "CLIENT_CLOSED", "the dialogue is closed")
}

#[cfg(test)]
mod tests;
