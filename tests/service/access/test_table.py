"""Every call, by every role and by nobody, to own and to foreign things, by gRPC and by HTTP."""

import json
import struct
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import grpc
import httpx
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from tests.service.access.test_rules import methods
from tests.service.access.world import FOREIGN, OWN, Things, World, things_of, with_token
from tests.service.harness import CALL_S, chunk, grid, header
from tests.service.methods import path
from tests.service.support import status_of

from svddtune.service.access.caller import Role
from svddtune.service.access.permissions import RULES
from svddtune.v1 import (
    common_pb2,
    config_pb2,
    dataset_pb2,
    oracle_pb2,
    scoring_pb2,
    server_pb2,
    tuning_pb2,
)

pytestmark = pytest.mark.integration

METHODS = tuple(methods())
ROLES = ("viewer", "labeler", "tuner", "admin")
# What a caller is told who may not call, or not reach what the call names.
DENIED = {"CREDENTIALS_MISSING", "CREDENTIALS_INVALID", "ROLE_TOO_LOW", "LABELER_NOT_YOURS"}
ABSENT = {"SESSION_NOT_FOUND", "DATASET_NOT_FOUND", "MODEL_NOT_FOUND"}
# Refused by the servicer, which is behind the guard; so the table's calls change nothing.
SPOILED = "no UUID"
INVALID = "svddtune_0123456789ab_this-is-nobodys-token"


@pytest.fixture(scope="module")
def never(things: Things) -> Things:
    """Names of the same form that nothing ever had."""
    session = f"{things.session[:-20]}{uuid.uuid4().hex[:20]}"
    return Things(
        f"datasets/{uuid.uuid4().hex}",
        session,
        f"{session}/results/1",
        f"models/{uuid.uuid4().hex}",
    )


def named(session: str = "") -> dict[str, Any]:
    return {"session": session, "observation_id": "0", "answer_id": "a"}


def requests_of(things: Things) -> dict[str, list[Message]]:
    """A request of each method about some things; those that would change them are spoiled."""
    t, d, o, s = tuning_pb2, dataset_pb2, oracle_pb2, scoring_pb2
    spoiled: dict[str, Any] = {"name": things.session, "request_id": SPOILED}
    config = config_pb2.SessionConfig(budget=6)
    matrix = common_pb2.Matrix(rows=1, columns=1, values=bytes(8))
    asked: dict[str, Any] = {"session": things.session, "query": 1, "lease_id": "x"}
    return {
        "GetServerInfo": [server_pb2.GetServerInfoRequest()],
        "GetLoad": [server_pb2.GetLoadRequest()],
        "UploadDataset": [header(feature_count=0)],
        "GetUpload": [d.GetUploadRequest(upload_id=SPOILED)],
        "GetDataset": [d.GetDatasetRequest(name=things.dataset)],
        "ListDatasets": [d.ListDatasetsRequest()],
        "ListObservations": [d.ListObservationsRequest(parent=things.dataset)],
        "DeleteDataset": [d.DeleteDatasetRequest(name=things.dataset, request_id=SPOILED)],
        "CreateSession": [
            t.CreateSessionRequest(dataset=things.dataset, config=config, request_id=SPOILED)
        ],
        "GetSession": [t.GetSessionRequest(name=things.session)],
        "ListSessions": [t.ListSessionsRequest()],
        "UpdateSession": [
            t.UpdateSessionRequest(session=t.Session(name=things.session), request_id=SPOILED)
        ],
        "PauseSession": [t.PauseSessionRequest(**spoiled)],
        "ResumeSession": [t.ResumeSessionRequest(**spoiled)],
        "FinishSession": [t.FinishSessionRequest(**spoiled)],
        "CancelSession": [t.CancelSessionRequest(**spoiled)],
        "DeleteSession": [t.DeleteSessionRequest(**spoiled)],
        "WatchSession": [t.WatchSessionRequest(name=things.session)],
        "ListLabels": [t.ListLabelsRequest(name=things.session)],
        "ListLabelers": [t.ListLabelersRequest(name=things.session)],
        "GetAgreement": [t.GetAgreementRequest(name=things.session)],
        "ListHistory": [t.ListHistoryRequest(name=things.session)],
        "GetAtlas": [t.GetAtlasRequest(name=things.session)],
        "GetMap": [t.GetMapRequest(name=things.session)],
        "WithdrawLabeler": [t.WithdrawLabelerRequest(labeler="x", **spoiled)],
        "ReinstateLabeler": [t.ReinstateLabelerRequest(labeler="x", **spoiled)],
        "ReopenObservation": [t.ReopenObservationRequest(observation_id="0", **spoiled)],
        "GetResult": [t.GetResultRequest(name=things.result)],
        "ListResults": [t.ListResultsRequest(parent=things.session)],
        "ExportModel": [t.ExportModelRequest(name=things.result)],
        "Converse": [
            o.ConverseRequest(hello=o.Hello(min_protocol_version=1, sessions=[things.session]))
        ],
        "Lease": [o.LeaseRequest(session=things.session)],
        "Answer": [o.AnswerRequest(answer=o.Answer(**named(things.session)))],
        "AnswerBatch": [
            o.AnswerBatchRequest(session=things.session, answers=[o.Answer(**named())])
        ],
        "Extend": [o.ExtendRequest(extend=o.Extend(session=things.session))],
        "Release": [o.ReleaseRequest(release=o.Release(session=things.session))],
        "Skip": [o.SkipRequest(skip=o.Skip(**asked))],
        "Retract": [o.RetractRequest(retract=o.Retract(**named(things.session)))],
        "GetProfile": [o.GetProfileRequest(session=things.session)],
        "Score": [s.ScoreRequest(model=things.model, matrix=matrix)],
        "ScoreStream": [s.ScoreStreamRequest(header=s.ScoreStreamHeader(model=things.model))],
        "UploadModel": [s.UploadModelRequest(chunk=b"x")],
        "GetModel": [s.GetModelRequest(name=things.model)],
        "DownloadModel": [s.DownloadModelRequest(name=things.model)],
        "DeleteModel": [s.DeleteModelRequest(name=things.model)],
    }


def reason_of(status: status_pb2.Status) -> str:
    for detail in status.details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return str(info.reason)
    return ""


Ask = Callable[[Any, list[Message], str], status_pb2.Status]


@pytest.fixture(scope="module")
def by_grpc(world: World) -> Ask:
    channels: dict[str, grpc.Channel] = {}

    def ask(method: Any, messages: list[Message], token: str) -> status_pb2.Status:
        channel = channels.setdefault(token, with_token(world.channel, token))
        kind = "_".join(
            "stream" if streams else "unary"
            for streams in (method.client_streaming, method.server_streaming)
        )
        call = getattr(channel, kind)(
            path(method), request_serializer=lambda message: message.SerializeToString()
        )
        request = iter(messages) if method.client_streaming else messages[0]
        try:
            response = call(request, timeout=CALL_S)
            if method.server_streaming:
                next(iter(response), None)
                response.cancel()
        except grpc.RpcError as error:
            return status_of(error)
        return status_pb2.Status()

    return ask


@pytest.fixture(scope="module")
def by_http(world: World) -> Iterator[Ask]:
    with httpx.Client(base_url=world.process.ready["http"], timeout=CALL_S) as client:

        def ask(method: Any, messages: list[Message], token: str) -> status_pb2.Status:
            headers = {"authorization": f"Bearer {token}"} if token else {}
            if method.client_streaming:
                where = {"UploadDataset": "/v1/datasets", "UploadModel": "/v1/models"}[method.name]
                headers["content-type"] = "application/x-ndjson"
                lines = [json_format.MessageToJson(one, indent=None) for one in messages]
                return _status(client.post(where, content="\n".join(lines), headers=headers))
            where, body = path(method), messages[0].SerializeToString()
            if method.server_streaming:
                headers["content-type"] = "application/connect+proto"
                body = struct.pack(">BI", 0, len(body)) + body
                with client.stream("POST", where, content=body, headers=headers) as response:
                    if response.status_code != 200:
                        response.read()
                        return _status(response)
                    first = next(response.iter_raw())
                return _connect(json.loads(first[5:])["error"]) if first[0] & 2 else _OK
            headers["content-type"] = "application/proto"
            return _status(client.post(where, content=body, headers=headers))

        yield ask


_OK = status_pb2.Status()


def _status(response: httpx.Response) -> status_pb2.Status:
    challenged = "www-authenticate" in response.headers
    assert challenged == (response.status_code == 401), response.text
    if response.status_code == 200:
        return _OK
    content = response.json()
    if "error" not in content:
        return _connect(content)
    error = content["error"]
    code = grpc.StatusCode[error["status"]].value[0]
    return json_format.ParseDict(
        {"code": code, "message": error["message"], "details": error["details"]},
        status_pb2.Status(),
    )


def _connect(error: dict[str, Any]) -> status_pb2.Status:
    code = grpc.StatusCode[error["code"].upper()].value[0]
    status = status_pb2.Status(code=code, message=error["message"])
    for one in error["details"]:
        info = json_format.ParseDict(one["debug"], status.details.add())
        assert info.ByteSize()
    return status


def without_names(status: status_pb2.Status, things: Things) -> bytes:
    """A status with all that it repeats of a request's names blanked; names are of equal length."""
    found: bytes = status.SerializeToString()
    for name in (things.dataset, things.session, things.model):
        found = found.replace(name.partition("/")[2].encode(), b"*")
    return found


def expected_of(method: Any, role: str, *, foreign: bool) -> set[str]:
    """Reasons that a cell may have: "" stands for what is behind the guard."""
    rule = RULES[method.full_name]
    if role == "invalid":
        return {"CREDENTIALS_INVALID"}
    if rule.permission is None:
        return {""}
    if role == "none":
        return {"CREDENTIALS_MISSING"}
    if not Role[role.upper()].may(rule.permission):
        return {"ROLE_TOO_LOW"}
    return ABSENT if foreign and rule.names else {""}


def table(ask: Ask, world: World, things: Things, never: Things, left_out: set[str]) -> int:
    """Ask all cells; the number of them. Raises AssertionError with those that are wrong."""
    wrong, count = {}, 0
    requests, absent = requests_of(things), requests_of(never)
    assert requests.keys() == {method.name for method in METHODS}
    for method in METHODS:
        if method.name in left_out:
            continue
        for role in ("none", "invalid", *ROLES):
            for foreign in (False, True):
                token = {"none": "", "invalid": INVALID}.get(role) or (
                    world.token(role, FOREIGN if foreign else OWN) if role in ROLES else ""
                )
                if method.name == "DeleteModel" and not foreign and role == "admin":
                    # (It cannot be spoiled; another test deletes one.)
                    continue
                status = ask(method, requests[method.name], token)
                reason = reason_of(status)
                found = reason if reason in DENIED | ABSENT else ""
                cell = (method.name, role, "foreign" if foreign else "own")
                count += 1
                if found not in expected_of(method, role, foreign=foreign):
                    wrong[cell] = status
                elif found in ABSENT:
                    unknown = ask(method, absent[method.name], token)
                    if without_names(status, things) != without_names(unknown, never):
                        wrong[cell] = (status, unknown)
    assert wrong == {}
    return count


def test_cells_by_grpc(by_grpc: Ask, world: World, things: Things, never: Things) -> None:
    assert table(by_grpc, world, things, never, set()) == 12 * len(METHODS) - 1


def test_cells_by_http(by_http: Ask, world: World, things: Things, never: Things) -> None:
    # Only gRPC has streams in both directions.
    left_out = {"Converse", "ScoreStream"}
    assert table(by_http, world, things, never, left_out) == 12 * (len(METHODS) - 2) - 1


def test_names_below_foreign_ones_and_as_sources_are_absent(
    by_grpc: Ask, world: World, things: Things, never: Things
) -> None:
    by_name = {method.name: method for method in METHODS}
    tuner = world.token("tuner", FOREIGN)
    own = world.as_("tuner", FOREIGN).upload(header(), chunk(grid())).name

    def asked(which: Things) -> list[tuple[str, Message]]:
        create = tuning_pb2.CreateSessionRequest(dataset=own, from_session=which.session)
        of_result = tuning_pb2.CreateSessionRequest(dataset=own, from_session=which.result)
        return [
            ("CreateSession", create),
            ("CreateSession", of_result),
            ("Score", scoring_pb2.ScoreRequest(model=which.result)),
            ("GetModel", scoring_pb2.GetModelRequest(name=which.result)),
            ("GetResult", tuning_pb2.GetResultRequest(name=f"{which.session}/results/-")),
        ]

    for (name, foreign), (_, unknown) in zip(asked(things), asked(never), strict=True):
        status = by_grpc(by_name[name], [foreign], tuner)
        assert reason_of(status) == "SESSION_NOT_FOUND", name
        other = by_grpc(by_name[name], [unknown], tuner)
        assert without_names(status, things) == without_names(other, never)


def test_model_is_deleted_by_an_admin_of_its_project(world: World, things: Things) -> None:
    own = things_of(world)
    assert replace(own, session="", result="") == replace(things, session="", result="")
    world.as_("admin").scoring.DeleteModel(scoring_pb2.DeleteModelRequest(name=own.model))
    # (The table needs it.)
    assert things_of(world).model == own.model
