use std::collections::HashSet;

use prost::Message;
use tonic::Status;
use tonic_types::{ErrorDetails, StatusExt};

use super::*;
use crate::v1::{Answer, Drain, Finished, Reject, Release, Revoke, Session, Verdict, Welcome};

const SESSION: &str = "sessions/s";

/// A book on an open stream, and what it sends after Hello.
fn welcomed() -> (Book, mpsc::UnboundedReceiver<ConverseRequest>) {
    let mut book = Book::new(Options::new("rule", SESSION));
    let sent = reconnect(&mut book);
    (book, sent)
}

fn reconnect(book: &mut Book) -> mpsc::UnboundedReceiver<ConverseRequest> {
    let (outbox, mut sent) = mpsc::unbounded_channel();
    book.hello(outbox);
    assert!(matches!(sent.try_recv().unwrap().message, Some(Request::Hello(_))));
    let welcome = Welcome { resume_token: "token".into(), ..Default::default() };
    hear(book, Response::Welcome(welcome));
    sent
}

fn hear(book: &mut Book, message: Response) {
    book.receive(ConverseResponse { message: Some(message), ..Default::default() });
}

fn query(number: u32, lease_id: &str) -> Assign {
    let (session, lease_id) = (SESSION.into(), lease_id.into());
    Assign { session, query: number, lease_id, ..Default::default() }
}

fn answer(query: &Assign) -> Request {
    Request::Answer(Answer {
        session: query.session.clone(),
        query: query.query,
        lease_id: query.lease_id.clone(),
        verdict: Verdict::Inlier.into(),
        ..Default::default()
    })
}

fn reject(request_id: &str, reason: &str) -> Response {
    let details = ErrorDetails::with_error_info(reason, "svddtune.github.io", []);
    let status = Status::with_error_details(Code::FailedPrecondition, "refused", details);
    let status = tonic_types::Status::decode(status.details()).unwrap();
    let request_id = request_id.into();
    Response::Reject(Reject { request_id, status: Some(status), ..Default::default() })
}

#[test]
fn answer_without_ack_is_sent_again_with_the_same_ids_until_its_ack() {
    let (mut book, mut sent) = welcomed();
    hear(&mut book, Response::Assign(query(1, "lease")));
    let taken = book.take().unwrap();
    let mut settled = book.submit(answer(&taken));
    let first = sent.try_recv().unwrap();
    let mut sent = reconnect(&mut book);
    assert_eq!(sent.try_recv().unwrap(), first);
    assert!(settled.try_recv().is_err());
    let request_id = first.request_id;
    hear(&mut book, Response::Ack(Ack { request_id, query: 1, ..Default::default() }));
    assert_eq!(settled.try_recv().unwrap().unwrap().query, 1);
    assert!(reconnect(&mut book).try_recv().is_err());
}

#[test]
fn hello_of_the_next_stream_carries_the_resume_token() {
    let (mut book, _sent) = welcomed();
    let (outbox, mut sent) = mpsc::unbounded_channel();
    book.hello(outbox);
    let Some(Request::Hello(hello)) = sent.try_recv().unwrap().message else { panic!() };
    assert_eq!(hello.resume_token, "token");
}

#[test]
fn query_that_is_assigned_again_is_asked_once() {
    let (mut book, _sent) = welcomed();
    for _ in 0..2 {
        hear(&mut book, Response::Assign(query(1, "lease")));
    }
    assert!(book.take().is_some());
    hear(&mut book, Response::Assign(query(1, "lease")));
    assert!(book.take().is_none());
    hear(&mut book, Response::Assign(query(1, "another lease")));
    assert_eq!(book.take().unwrap().lease_id, "another lease");
}

#[test]
fn heartbeat_names_open_leases_and_lost_ones_are_dropped() {
    let (mut book, mut sent) = welcomed();
    for (number, lease) in [(1, "answered"), (2, "kept"), (3, "lost")] {
        hear(&mut book, Response::Assign(query(number, lease)));
    }
    let taken = book.take().unwrap();
    let _settled = book.submit(answer(&taken));
    sent.try_recv().unwrap();
    book.extend();
    let Some(Request::Extend(extend)) = sent.try_recv().unwrap().message else { panic!() };
    let named: HashSet<_> = extend.lease_ids.iter().map(String::as_str).collect();
    assert_eq!(named, HashSet::from(["kept", "lost"]));
    let lost_lease_ids = vec!["lost".into()];
    hear(&mut book, Response::Ack(Ack { lost_lease_ids, ..Default::default() }));
    assert_eq!(book.take().unwrap().lease_id, "kept");
    assert!(book.take().is_none());
}

#[test]
fn refused_answer_fails_with_its_reason_and_keeps_the_query_if_it_can_be_answered() {
    for (reason, held) in [("INVALID_FIELD", true), ("LEASE_LOST", false)] {
        let (mut book, mut sent) = welcomed();
        hear(&mut book, Response::Assign(query(1, "lease")));
        let taken = book.take().unwrap();
        let mut settled = book.submit(answer(&taken));
        let request_id = sent.try_recv().unwrap().request_id;
        hear(&mut book, reject(&request_id, reason));
        assert_eq!(settled.try_recv().unwrap().unwrap_err().reason, reason);
        book.extend();
        assert_eq!(sent.try_recv().is_ok(), held, "{reason}");
    }
}

#[test]
fn query_that_is_given_back_is_not_asked_again_and_forgotten_with_the_ack() {
    let (mut book, mut sent) = welcomed();
    hear(&mut book, Response::Assign(query(1, "lease")));
    let taken = book.take().unwrap();
    let lease_ids = vec![taken.lease_id.clone()];
    let release = Release { lease_ids, ..Default::default() };
    let _settled = book.submit(Request::Release(release));
    hear(&mut book, Response::Assign(query(1, "lease")));
    assert!(book.take().is_none() && book.is_held(&taken));
    let request_id = sent.try_recv().unwrap().request_id;
    hear(&mut book, Response::Ack(Ack { request_id, ..Default::default() }));
    assert!(!book.is_held(&taken));
}

#[test]
fn revoked_query_is_not_asked() {
    let (mut book, _sent) = welcomed();
    hear(&mut book, Response::Assign(query(1, "lease")));
    hear(&mut book, Response::Revoke(Revoke { lease_id: "lease".into(), ..Default::default() }));
    assert!(book.take().is_none());
}

#[test]
fn item_of_a_later_version_is_ignored() {
    let (mut book, _sent) = welcomed();
    book.receive(ConverseResponse::default());
    hear(&mut book, Response::Drain(Drain::default()));
    assert!(book.draining);
}

#[test]
fn dialogue_is_idle_once_its_session_is_finished_and_all_answers_are_stored() {
    let (mut book, mut sent) = welcomed();
    hear(&mut book, Response::Assign(query(1, "lease")));
    let taken = book.take().unwrap();
    let _settled = book.submit(answer(&taken));
    let session = Some(Session { name: SESSION.into(), ..Default::default() });
    hear(&mut book, Response::Finished(Finished { session, ..Default::default() }));
    assert!(book.is_finished() && !book.is_idle());
    let request_id = sent.try_recv().unwrap().request_id;
    hear(&mut book, Response::Ack(Ack { request_id, ..Default::default() }));
    assert!(book.is_idle());
}

#[test]
fn closed_dialogue_refuses_items() {
    let (mut book, _sent) = welcomed();
    let mut waiting = book.submit(answer(&query(1, "lease")));
    book.fail(closed());
    assert_eq!(waiting.try_recv().unwrap().unwrap_err().reason, "CLIENT_CLOSED");
    let refused = book.submit(answer(&query(1, "lease"))).try_recv().unwrap();
    assert_eq!(refused.unwrap_err().reason, "CLIENT_CLOSED");
}
