"""The calls over HTTP are those over gRPC, in JSON."""

import asyncio
import base64
import json
import random
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlsplit

import grpc
import httpx
import numpy as np
import pytest
from google.protobuf import descriptor_pool, json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from numpy.typing import NDArray
from tests.e2e.processes import Process
from tests.service.harness import CALL_S, Harness, M, N, grid
from tests.service.methods import Garbler, path
from tests.service.support import status_of
from tests.waiting import wait_until

from svddtune.service.http.errors import error_json
from svddtune.service.http.gateway import Gateway
from svddtune.service.http.methods import HttpContext, Method
from svddtune.service.http.rules import Rule, rules_of
from svddtune.service.server import SERVICES
from svddtune.service.validate import LARGEST_MESSAGE
from svddtune.v1 import tuning_pb2

pytestmark = pytest.mark.integration

LINES = {"Content-Type": "application/x-ndjson"}
OURS = [
    method
    for name in SERVICES
    for method in descriptor_pool.Default().FindServiceByName(name).methods
]
RULES = rules_of(OURS)
UNARY = [one for one in RULES if not (one.method.client_streaming or one.method.server_streaming)]
VARIABLE = re.compile(r"\{([\w.]+)(?:=([^}]*))?\}")
RANDOM_CALLS = 12


def test_every_method_that_is_no_dialogue_has_a_rule() -> None:
    with_rule = {rule.method.full_name for rule in RULES}
    for one in OURS:
        is_dialogue = one.client_streaming and one.server_streaming
        assert (one.full_name in with_rule) == (not is_dialogue), one.full_name


def reason(response: httpx.Response) -> str:
    """The stable reason of a refusal."""
    return str(response.json()["error"]["details"][0]["reason"])


def as_http(rule: Rule, message: Message) -> dict[str, Any]:
    """The request that says what a message says. Raises json_format.Error where JSON cannot."""
    said = json_format.MessageToDict(message)
    target = rule.template
    for name, inner in VARIABLE.findall(rule.template):
        *parents, last = map(camel, name.split("."))
        holder = said
        for parent in parents:
            holder = holder.get(parent, {})
        variable = "{" + name + (f"={inner}" if inner else "") + "}"
        target = target.replace(variable, quote(str(holder.pop(last, "")), safe="/"))
    request: dict[str, Any] = {"method": rule.verb, "url": target}
    if rule.body == "*":
        return request | {"json": said}
    if rule.body:
        request["json"] = said.pop(camel(rule.body), {})
    return request | {"params": list(parameters(said))}


def camel(name: str) -> str:
    """The JSON name of a field."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def parameters(said: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The parameters of a query for a tree of JSON values."""
    for key, value in said.items():
        if isinstance(value, dict):
            yield from parameters(value, f"{prefix}{key}.")
        else:
            for one in value if isinstance(value, list) else [value]:
                yield prefix + key, json.dumps(one) if isinstance(one, bool) else str(one)


def over_grpc(channel: grpc.Channel, method: MethodDescriptor, message: Message) -> Any:
    """The response as a message, or the error as JSON."""
    call = channel.unary_unary(
        path(method),
        request_serializer=lambda one: one.SerializeToString(),
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )
    try:
        return call(message, timeout=CALL_S)
    except grpc.RpcError as error:
        return error_json(status_of(error))


def over_http(web: httpx.Client, method: MethodDescriptor, request: dict[str, Any]) -> Any:
    """The response as a message, or the error as JSON."""
    response = web.request(**request)
    assert response.headers["content-type"] == "application/json"
    if response.status_code == 200:
        return json_format.ParseDict(response.json(), GetMessageClass(method.output_type)())
    assert response.status_code == response.json()["error"]["code"]
    return response.json()


def requests_of(rule: Rule, names: Sequence[str]) -> Iterator[tuple[Message, dict[str, Any]]]:
    """Random requests of a method, as messages and over HTTP."""
    chance = random.Random(rule.template)
    garbler = Garbler(chance, names)
    left = RANDOM_CALLS
    while left:
        message = garbler.message(rule.method.input_type)
        for name, inner in VARIABLE.findall(rule.template):
            *parents, last = name.split(".")
            holder: Any = message
            for parent in parents:
                holder = getattr(holder, parent)
            unknown = inner.replace("*", "none") or "none"
            fitting = [one for one in names if one.partition("/")[0] == inner.partition("/")[0]]
            setattr(holder, last, chance.choice([*fitting, unknown]))
        # (A message may hold what JSON cannot say.)
        with suppress(json_format.Error):
            request = as_http(rule, message)
            if rule.pattern.fullmatch(request["url"]):
                yield message, request
                left -= 1


@pytest.mark.parametrize("rule", UNARY, ids=lambda rule: f"{rule.verb} {rule.template}")
def test_random_calls_end_as_they_do_over_grpc(
    harness: Harness, web: httpx.Client, service_process: Process, rule: Rule
) -> None:
    session = harness.completed()
    names = (session.name, session.dataset, f"{session.name}/results/1")
    compared = 0
    with grpc.insecure_channel(service_process.ready["address"]) as channel:
        for message, request in requests_of(rule, names):
            first = over_grpc(channel, rule.method, message)
            second = over_http(web, rule.method, request)
            if isinstance(first, dict) or rule.verb == "GET":
                assert second == first, request
                compared += 1
            else:
                # It changed something, so the second call may end in another way.
                assert not isinstance(second, dict) or second["error"]["code"] < 500, request
    assert compared > 0


def dataset(web: httpx.Client, **header: Any) -> str:
    """Upload N x M and return the name."""
    response = web.post("/v1/datasets", content=upload(**header), headers=LINES)
    return str(response.json()["dataset"]["name"])


def upload(**header: Any) -> bytes:
    """The lines of an upload of N x M."""
    messages = [
        {"header": {"observationCount": N, "featureCount": M, **header}},
        {"chunk": {"rows": matrix(grid())}},
    ]
    return b"\n".join(json.dumps(one).encode() for one in messages)


def matrix(rows: NDArray[np.float64]) -> dict[str, Any]:
    """A Matrix as JSON."""
    values = base64.b64encode(rows.astype("<f8").tobytes()).decode()
    return {"rows": len(rows), "columns": rows.shape[1], "values": values}


def test_labeler_works_over_http(harness: Harness, web: httpx.Client) -> None:
    name = dataset(web, displayName="été")
    created = web.post("/v1/sessions", json={"dataset": name, "config": {"budget": 3}}).json()
    session = created["session"]["name"]
    harness.worker.work_off()

    def lease(**request: Any) -> Any:
        return web.post(f"/v1/{session}:lease", json={"labeler": "ann"} | request).json()

    first, second = lease(maxQueries=2, waitSeconds=10.0)["assignments"]
    assert len(first["features"]) == M
    skipped = {"query": first["query"], "leaseId": first["leaseId"], "mode": "SKIP_MODE_OTHERS"}
    web.post(f"/v1/{session}:skip", json={"labeler": "ann", "skip": skipped}).raise_for_status()
    extend = {"labeler": "ann", "extend": {"leaseIds": [second["leaseId"]]}}
    assert web.post(f"/v1/{session}:extend", json=extend).json()["ack"]["lostLeaseIds"] == []
    answer = {
        "answerId": "a1",
        "query": second["query"],
        "leaseId": second["leaseId"],
        "verdict": "VERDICT_OUTLIER",
    }
    for _ in range(2):  # repeated, it has one effect
        acks = web.post(f"/v1/{session}:answer", json={"labeler": "ann", "answer": answer}).json()
        assert acks["ack"]["disposition"] == "DISPOSITION_APPLIED"
        assert acks["ack"]["counts"]["outlier"] == 1
    retract = {"answerId": "a2", "observationId": second["observationId"]}
    done = web.post(f"/v1/{session}:retract", json={"labeler": "ann", "retract": retract})
    assert done.json()["ack"]["counts"]["total"] == 0
    harness.worker.work_off()
    assert lease(waitSeconds=10.0)["assignments"]
    released = {"labeler": "ann", "release": {"leaseIds": []}}
    web.post(f"/v1/{session}:release", json=released).raise_for_status()
    batch = {
        "labeler": "ben",
        "answers": [
            {"answerId": str(row), "observationId": str(row), "verdict": "VERDICT_INLIER"}
            for row in range(3)
        ],
    }
    web.post(f"/v1/{session}:answerBatch", json=batch).raise_for_status()
    harness.worker.work_off()
    assert lease()["finishReason"] == "FINISH_REASON_BUDGET_SPENT"
    described = web.get(f"/v1/{session}").json()["session"]
    assert described["state"] == "SESSION_STATE_COMPLETED"
    result = web.get(f"/v1/{described['latestResult']}").json()["result"]
    assert result["gamma"] > 0


def test_numbers_enums_and_absence_are_those_of_proto_json(web: httpx.Client) -> None:
    config = {"seed": "18446744073709551615", "strategy": "QUERY_STRATEGY_LAMA"}
    request = {"dataset": dataset(web), "config": config}
    session = web.post("/v1/sessions", json=request).json()["session"]
    assert session["config"]["seed"] == config["seed"]
    assert session["config"]["strategy"] == config["strategy"]
    assert session["leasedCount"] == 0
    # Only what may be absent is.
    assert "live" not in session
    read = web.get(f"/v1/{session['name']}").json()["session"]
    assert read["createTime"].endswith("Z")
    assert "NaN" not in json.dumps(read)


def test_names_of_the_proto_files_are_accepted(web: httpx.Client) -> None:
    request = {"dataset": dataset(web), "display_name": "x"}
    created = web.post("/v1/sessions", json=request).json()["session"]
    assert created["displayName"] == "x"
    assert len(web.get("/v1/sessions", params={"page_size": 1}).json()["sessions"]) == 1


def test_budget_is_updated_by_a_part_of_the_session(web: httpx.Client) -> None:
    name = web.post("/v1/sessions", json={"dataset": dataset(web)}).json()["session"]["name"]
    changed = web.patch(
        f"/v1/{name}", params={"updateMask": "config.budget"}, json={"config": {"budget": 7}}
    )
    assert changed.json()["session"]["config"]["budget"] == 7


@pytest.mark.parametrize(
    ("request_", "status", "why", "words"),
    [
        ({"content": "{"}, 400, "UNDECODABLE_MESSAGE", "Failed to load JSON"),
        ({"content": "[]"}, 400, "UNDECODABLE_MESSAGE", "object"),
        ({"content": "5"}, 400, "UNDECODABLE_MESSAGE", "object"),
        ({"content": b"\xff"}, 400, "UNDECODABLE_MESSAGE", "object"),
        ({"content": b'{"dataset": "\xff"}'}, 400, "UNDECODABLE_MESSAGE", "UnicodeDecodeError"),
        ({"content": '{"dataset": "\\ud800"}'}, 400, "UNDECODABLE_MESSAGE", ""),
        ({"json": {"dataset": 5}}, 400, "UNDECODABLE_MESSAGE", "dataset"),
        ({"json": {"datasett": "x"}}, 400, "UNDECODABLE_MESSAGE", "datasett"),
        ({"json": {"config": {"budget": -1}}}, 400, "UNDECODABLE_MESSAGE", "budget"),
        ({"json": {"config": {"seed": str(2**64)}}}, 400, "UNDECODABLE_MESSAGE", "seed"),
        ({"json": {"config": {"metric": "NONE"}}}, 400, "UNDECODABLE_MESSAGE", "metric"),
        ({"content": '{"dataset": "a", "dataset": "b"}'}, 400, "UNDECODABLE_MESSAGE", "dataset"),
        ({"content": "[" * 100_000}, 400, "UNDECODABLE_MESSAGE", "object"),
        ({"content": '{"config":' * 5_000}, 400, "UNDECODABLE_MESSAGE", ""),
        ({"content": '{"config": {"seed": ' + "9" * 5_000}, 400, "UNDECODABLE_MESSAGE", ""),
        ({"json": {}, "params": {"dataset": "x"}}, 400, "UNDECODABLE_MESSAGE", "dataset"),
        ({"content": b"x" * (LARGEST_MESSAGE + 1)}, 413, "REQUEST_TOO_LARGE", str(LARGEST_MESSAGE)),
        ({"data": {"dataset": "x"}}, 415, "UNSUPPORTED_CONTENT_TYPE", "application/json"),
    ],
)
def test_request_that_is_no_json_of_its_message_is_refused(
    web: httpx.Client, request_: dict[str, Any], status: int, why: str, words: str
) -> None:
    headers = {"Content-Type": "application/json"} if "content" in request_ else {}
    refused = web.post("/v1/sessions", headers=headers, **request_)
    assert (refused.status_code, reason(refused)) == (status, why)
    assert words in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("pageSiz=1", "pageSiz"),
        ("pageSize=one", "page_size"),
        ("pageSize=1&pageSize=2", "more than once"),
        ("pageSize=1&page_size=2", "more than once"),
        ("pageSize.x=1", "pageSize.x"),
        ("pageToken=%ff", "UnicodeDecodeError"),
    ],
)
def test_query_that_does_not_fit_is_refused(web: httpx.Client, query: str, words: str) -> None:
    refused = web.get(f"/v1/sessions?{query}")
    assert (refused.status_code, reason(refused)) == (400, "UNDECODABLE_MESSAGE")
    assert words in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    "path", ["/v1/nothing", "/assets/nothing", "/v1/sessions/", "/v1/a%0Ab", "/livez/", "/%ff"]
)
def test_unknown_path_is_refused(web: httpx.Client, path: str) -> None:
    missing = web.get(path)
    assert (missing.status_code, reason(missing)) == (404, "UNKNOWN_PATH")


def test_unknown_method_is_refused(web: httpx.Client) -> None:
    wrong = web.put("/v1/sessions")
    assert (wrong.status_code, reason(wrong)) == (405, "METHOD_NOT_ALLOWED")
    assert wrong.headers["Allow"] == "GET, POST"


def test_line_of_an_upload_has_a_limit(web: httpx.Client) -> None:
    line = b'{"header": {"displayName": "' + b"x" * LARGEST_MESSAGE + b'"}}'
    refused = web.post("/v1/datasets", content=line, headers=LINES)
    assert (refused.status_code, reason(refused)) == (413, "REQUEST_TOO_LARGE")


def test_upload_says_which_line_it_cannot_read(web: httpx.Client) -> None:
    refused = web.post("/v1/datasets", content=b'{"header": {}}\n{"chnk": {}}', headers=LINES)
    assert refused.status_code == 400


def test_upload_that_breaks_off_is_resumed(web: httpx.Client) -> None:
    # The service keeps a part of 1 MiB when the next one comes.
    parts = np.split(grid(210_000), 3)
    upload_id = "3b9f54f3-7c1f-4b52-9d1b-6d3d6d5c4a01"
    header = {"observationCount": 210_000, "featureCount": M, "uploadId": upload_id}
    messages = ({"header": header}, *({"chunk": {"rows": matrix(part)}} for part in parts))
    head, first, second, third = (json.dumps(one).encode() + b"\n" for one in messages)
    url = urlsplit(str(web.base_url))
    sent = head + first + second
    with socket.create_connection((str(url.hostname), url.port or 0)) as connection:
        connection.sendall(
            f"POST /v1/datasets HTTP/1.1\r\nHost: {url.netloc}\r\n"
            "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
            f"{len(sent):x}\r\n".encode()
            + (sent + b"\r\n")
        )
        kept = len(parts[0])
        wait_until(lambda: web.get(f"/v1/uploads/{upload_id}").json().get("rowCount") == kept)
    resumed = web.post("/v1/datasets", content=head + second + third, headers=LINES).json()
    assert resumed["dataset"]["observationCount"] == 210_000


def test_watch_sends_lines_until_the_session_has_ended(harness: Harness, web: httpx.Client) -> None:
    name = harness.session().name
    with web.stream("GET", f"/v1/{name}:watch") as response:
        assert response.headers["content-type"] == "application/x-ndjson"
        lines = response.iter_lines()
        seen = json.loads(next(lines))["result"]
        assert seen["session"]["state"] == "SESSION_STATE_LABELING"
        web.post(f"/v1/{name}:cancel").raise_for_status()
        assert [json.loads(line)["result"]["session"]["state"] for line in lines] == [
            "SESSION_STATE_CANCELLED"
        ]
    token = {"resumeToken": seen["resumeToken"]}
    with web.stream("GET", f"/v1/{name}:watch", params=token) as resumed:
        assert len(list(resumed.iter_lines())) == 1


def test_events_of_a_watch_are_resumed_by_their_ids(harness: Harness, web: httpx.Client) -> None:
    name = harness.session().name
    events = {"Accept": "text/event-stream"}
    with web.stream("GET", f"/v1/{name}:watch", headers=events) as response:
        assert response.headers["content-type"] == "text/event-stream"
        lines = response.iter_lines()
        number = next(lines).removeprefix("id: ")
        assert json.loads(next(lines).removeprefix("data: "))["session"]["name"] == name
        web.post(f"/v1/{name}:cancel").raise_for_status()
        last = [line for line in lines if line.startswith("id: ")][-1].removeprefix("id: ")
    headers = events | {"Last-Event-ID": number}
    assert web.get(f"/v1/{name}:watch", headers=headers).text.count("data: ") == 1
    # A browser takes this as: do not connect again.
    ended = web.get(f"/v1/{name}:watch", headers=events | {"Last-Event-ID": last})
    assert (ended.status_code, ended.content) == (204, b"")


def test_watch_of_an_unknown_session_has_the_status_of_its_error(web: httpx.Client) -> None:
    refused = web.get("/v1/sessions/none:watch")
    assert (refused.status_code, reason(refused)) == (404, "SESSION_NOT_FOUND")


def test_model_is_exported_as_lines(harness: Harness, web: httpx.Client) -> None:
    name = harness.completed().latest_result
    over_grpc = [
        json_format.MessageToDict(one)
        for one in harness.tuning.ExportModel(tuning_pb2.ExportModelRequest(name=name))
    ]
    lines = web.get(f"/v1/{name}:exportModel").text.splitlines()
    read = [
        json_format.ParseDict(json.loads(line)["result"], tuning_pb2.ExportModelResponse())
        for line in lines
    ]
    assert [json_format.MessageToDict(one) for one in read] == over_grpc


def test_call_is_cancelled_when_its_client_leaves() -> None:
    lease = next(one for one in OURS if one.name == "Lease")
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(request: Message, context: HttpContext) -> Message:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            assert context.done()
            cancelled.set()
            raise
        return request

    async def receive() -> dict[str, Any]:
        if sent:
            await begun.wait()
            return {"type": "http.disconnect"}
        sent.append(True)
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        raise AssertionError(f"nobody is there for {message}")

    sent: list[bool] = []
    gateway = Gateway([Method(lease, grpc.unary_unary_rpc_method_handler(wait))])
    path = b"/v1/sessions:lease"
    scope = {
        "type": "http",
        "method": "POST",
        "path": path.decode(),
        "raw_path": path,
        "query_string": b"",
        "headers": [],
    }
    asyncio.run(asyncio.wait_for(gateway(scope, receive, send), CALL_S))
    assert cancelled.is_set()
