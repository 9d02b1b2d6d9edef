"""The calls by the Connect protocol, as the clients that Connect generates make them."""

import base64
import json
import struct
from typing import Any

import httpx
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from tests.service.harness import Harness

from svddtune.v1 import tuning_pb2

pytestmark = pytest.mark.integration

TUNING = "/svddtune.v1.TuningService"
END = 2


def post(web: httpx.Client, method: str, kind: str, content: bytes) -> httpx.Response:
    headers = {"Content-Type": f"application/{kind}", "Connect-Protocol-Version": "1"}
    return web.post(f"{TUNING}/{method}", content=content, headers=headers)


def envelope(data: bytes) -> bytes:
    return struct.pack(">BI", 0, len(data)) + data


def envelopes(body: bytes) -> list[tuple[int, bytes]]:
    found = []
    while body:
        flags, length = struct.unpack_from(">BI", body)
        found.append((flags, body[5 : 5 + length]))
        body = body[5 + length :]
    return found


def reason(error: dict[str, Any]) -> str:
    """The reason in the details of an error, which are messages in base64 without padding."""
    (info,) = [one for one in error["details"] if one["type"] == "google.rpc.ErrorInfo"]
    data = base64.b64decode(info["value"] + "=" * (-len(info["value"]) % 4))
    found = error_details_pb2.ErrorInfo.FromString(data)
    assert found.reason == info["debug"]["reason"]
    return str(found.reason)


@pytest.fixture
def request_(harness: Harness) -> tuning_pb2.GetSessionRequest:
    return tuning_pb2.GetSessionRequest(name=harness.session().name)


def test_unary_call_answers_in_json_and_in_binary(
    harness: Harness, web: httpx.Client, request_: tuning_pb2.GetSessionRequest
) -> None:
    binary = post(web, "GetSession", "proto", request_.SerializeToString())
    assert binary.headers["content-type"] == "application/proto"
    read = tuning_pb2.GetSessionResponse.FromString(binary.content)
    assert read == harness.tuning.GetSession(request_)
    text = post(web, "GetSession", "json", json.dumps({"name": request_.name}).encode())
    assert text.headers["content-type"] == "application/json"
    assert text.json()["session"]["name"] == request_.name


def test_field_of_a_later_version_is_passed_over(
    web: httpx.Client, request_: tuning_pb2.GetSessionRequest
) -> None:
    content = json.dumps({"name": request_.name, "newField": 1}).encode()
    assert post(web, "GetSession", "json", content).status_code == 200


def test_error_of_a_unary_call_has_code_and_reason(web: httpx.Client) -> None:
    refused = post(web, "GetSession", "json", b'{"name": "sessions/none"}')
    assert (refused.status_code, refused.headers["content-type"]) == (404, "application/json")
    assert refused.json()["code"] == "not_found"
    assert reason(refused.json()) == "SESSION_NOT_FOUND"


@pytest.mark.parametrize(
    ("kind", "content"),
    [("json", b"{"), ("json", b"5"), ("json", b'{"name": 5}'), ("proto", b"\x0a\x05a")],
)
def test_undecodable_message_is_refused(web: httpx.Client, kind: str, content: bytes) -> None:
    refused = post(web, "GetSession", kind, content)
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_argument")
    assert reason(refused.json()) == "UNDECODABLE_MESSAGE"


@pytest.mark.parametrize("kind", ["json", "proto"])
def test_stream_ends_with_the_last_envelope(
    web: httpx.Client, request_: tuning_pb2.GetSessionRequest, kind: str
) -> None:
    web.post(f"/v1/{request_.name}:cancel").raise_for_status()
    asked = tuning_pb2.WatchSessionRequest(name=request_.name)
    content = json.dumps({"name": asked.name}).encode()
    content = content if kind == "json" else asked.SerializeToString()
    response = post(web, "WatchSession", f"connect+{kind}", envelope(content))
    assert response.headers["content-type"] == f"application/connect+{kind}"
    (flags, first), last = envelopes(response.content)
    assert (flags, last) == (0, (END, b"{}"))
    if kind == "json":
        assert json.loads(first)["session"]["name"] == request_.name
    else:
        seen: Message = tuning_pb2.WatchSessionResponse.FromString(first)
        assert seen.session.name == request_.name  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (envelope(b'{"name": "sessions/none"}'), "SESSION_NOT_FOUND"),
        (envelope(b"{"), "UNDECODABLE_MESSAGE"),
        (b"", "UNDECODABLE_MESSAGE"),
        (envelope(b"{}") * 2, "UNDECODABLE_MESSAGE"),
        (b"\x01" + envelope(b"{}")[1:], "UNDECODABLE_MESSAGE"),
    ],
)
def test_error_of_a_stream_is_in_its_last_envelope(
    web: httpx.Client, content: bytes, why: str
) -> None:
    response = post(web, "WatchSession", "connect+json", content)
    assert response.status_code == 200
    ((flags, last),) = envelopes(response.content)
    assert flags == END
    assert reason(json.loads(last)["error"]) == why


def test_other_content_type_and_verb_are_refused(web: httpx.Client) -> None:
    wrong = post(web, "GetSession", "connect+json", b"{}")
    assert (wrong.status_code, "application/json" in wrong.headers["Accept-Post"]) == (415, True)
    assert web.get(f"{TUNING}/GetSession").status_code == 405
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    refused = web.post(f"{TUNING}/GetSession", content=b"x", headers=packed)
    assert reason(refused.json()) == "UNSUPPORTED_CONTENT_TYPE"


def test_dialogue_is_no_call_over_http(web: httpx.Client) -> None:
    missing = web.post("/svddtune.v1.OracleService/Converse", json={})
    assert missing.json()["error"]["details"][0]["reason"] == "UNKNOWN_PATH"
