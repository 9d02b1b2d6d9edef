"""A collector gets one trace from a labeler's answer to the next query, and logs name it."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest
import redis
from tests.e2e.observed import ANSWERS, label
from tests.e2e.processes import Process

from svddtune.client import TuningClient
from svddtune.stack import EmbeddedServer
from svddtune.v1 import common_pb2, oracle_pb2, oracle_pb2_grpc

trace_service_pb2 = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
    reason="the extra telemetry is not installed",
)

pytestmark = [pytest.mark.integration, pytest.mark.e2e, pytest.mark.slow]

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(ThreadingHTTPServer):
    """Takes spans as an OpenTelemetry collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        # Pairs of the service's name and a span.
        self.spans: list[tuple[str, Any]] = []
        # All that it got, as it was sent.
        self.received = b""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def named(self, process: str, name: str) -> list[Any]:
        return [span for of, span in self.spans if of == process and span.name == name]


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        assert self.path == "/v1/traces"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.received += body
        request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
        for of in request.resource_spans:
            about = {one.key: one.value.string_value for one in of.resource.attributes}
            for scope in of.scope_spans:
                self.server.spans += [(about["service.name"], span) for span in scope.spans]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where both processes write their logs."""
    return tmp_path_factory.mktemp("logs")


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture(scope="module")
def collector(redis_server: EmbeddedServer, logs: Path) -> Iterator[Collector]:
    """A collector with all spans of a session, and of an answer by a caller with a trace."""
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    with Collector() as collector:
        options = ("--redis", redis_server.url, "--otlp-endpoint", collector.url)
        further = (*options, "--log-level", "debug")
        # Both send the last of their spans when they end.
        with (
            Process(
                "svddtune.service", "--listen", "127.0.0.1:0", *further, log=logs / "service"
            ) as service,
            Process("svddtune.worker", *further, log=logs / "worker"),
        ):
            address = service.ready["address"]
            with TuningClient(address) as client:
                session = label(client)
            with grpc.insecure_channel(address) as channel:
                oracle = oracle_pb2_grpc.OracleServiceStub(channel)
                hello = oracle_pb2.Hello(sessions=[session], labeler="bob", min_protocol_version=1)
                stream: Any = oracle.Converse(
                    iter([oracle_pb2.ConverseRequest(hello=hello)]),
                    metadata=(("traceparent", CALLER),),
                )
                assert next(stream).HasField("welcome")
                stream.cancel()
                # (The session is over: the answer is refused, and recorded all the same.)
                oracle.AnswerBatch(
                    oracle_pb2.AnswerBatchRequest(
                        session=session,
                        labeler="bob",
                        answers=[
                            oracle_pb2.Answer(
                                answer_id="1", observation_id="0", verdict=common_pb2.VERDICT_INLIER
                            )
                        ],
                    ),
                    metadata=(("traceparent", CALLER),),
                )
        yield collector
        collector.shutdown()


def test_ranking_after_an_answer_is_in_the_trace_of_the_answer(collector: Collector) -> None:
    answers = {one.span_id: one for one in collector.named("svddtune-service", "Answer")}
    assert len(answers) == ANSWERS
    rankings = collector.named("svddtune-worker", "Job SUGGEST")
    after = [one for one in rankings if one.parent_span_id in answers]
    # All answers but the last are followed by a ranking. The first ranking follows from none.
    assert len(after) == ANSWERS - 1
    for one in after:
        answer = answers[one.parent_span_id]
        assert one.trace_id == answer.trace_id
        assert one.start_time_unix_nano >= answer.start_time_unix_nano
    assert len({one.trace_id for one in answers.values()}) == ANSWERS
    assert [one for one in rankings if not one.parent_span_id]


def test_query_is_in_the_trace_of_the_answer_before(collector: Collector) -> None:
    answers = {one.span_id: one for one in collector.named("svddtune-service", "Answer")}
    jobs = {one.span_id: one for one in collector.named("svddtune-worker", "Job SUGGEST")}
    assigned = sorted(
        collector.named("svddtune-service", "Assign"), key=lambda one: one.start_time_unix_nano
    )
    assert len(assigned) == ANSWERS
    first, *later = assigned
    assert not jobs[first.parent_span_id].parent_span_id
    for one in later:
        job = jobs[one.parent_span_id]
        assert one.trace_id == job.trace_id == answers[job.parent_span_id].trace_id


def test_span_says_which_job_it_is(collector: Collector) -> None:
    job = collector.named("svddtune-worker", "Job SUGGEST")[0]
    about = {one.key: one.value.string_value for one in job.attributes}
    assert about["kind"] == "SUGGEST"
    assert about["session_id"].startswith("p00-")
    assert "-" in about["job"]


def test_answers_of_a_caller_with_a_trace_continue_it(collector: Collector) -> None:
    (batch,) = collector.named("svddtune-service", "AnswerBatch")
    assert batch.trace_id.hex() == CALLER.split("-")[1]
    assert batch.parent_span_id.hex() == CALLER.split("-")[2]


def test_lines_of_the_service_name_the_trace_of_the_caller(
    collector: Collector, logs: Path
) -> None:
    opened = {
        one["labeler"]: one for one in lines(logs / "service") if one["event"] == "stream opened"
    }
    assert opened["bob"]["trace_id"] == CALLER.split("-")[1]
    # (Ann's client sends none, and there is no span while a stream is opened.)
    assert "trace_id" not in opened["ann"]


def test_lines_of_the_worker_name_the_trace_of_the_job(collector: Collector, logs: Path) -> None:
    spans = {}
    for process, span in collector.spans:
        if process == "svddtune-worker":
            about = {one.key: one.value.string_value for one in span.attributes}
            spans[about["session_id"], about["job"]] = span.trace_id.hex()
    assert spans

    def named(event: str) -> dict[tuple[str, str], str]:
        found = [one for one in lines(logs / "worker") if one["event"] == event]
        return {(one["session_id"], one["job"]): one["trace_id"] for one in found}

    assert named("begun") == spans
    # (A job may be left that nobody needs any more.)
    assert set() < named("done").items() <= spans.items()
