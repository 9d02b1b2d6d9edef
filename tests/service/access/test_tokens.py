"""Tokens in a file: made, expired and revoked while a service runs."""

import asyncio
import os
import stat
import time
from multiprocessing import get_context
from pathlib import Path

import grpc
import httpx
import pytest
from tests.service.access.world import OWN, World
from tests.service.harness import INLIER, refusal
from tests.service.support import reason_of
from tests.waiting import wait_until

from svddtune.process import tokens
from svddtune.process.tokens import TokenFileError
from svddtune.service.access import tokens as token_files
from svddtune.service.access.caller import Role
from svddtune.service.access.faults import Unauthenticated
from svddtune.service.access.identity import Credentials
from svddtune.service.access.tokens import TokenFile
from svddtune.v1 import oracle_pb2, server_pb2, server_pb2_grpc, tuning_pb2


def make(file: Path, name: str = "ann") -> str:
    _, text = tokens.create(file, name=name, project=OWN, role="admin")
    return text


def make_many(file: Path, count: int) -> None:
    for _ in range(count):
        make(file)


def test_file_has_no_token_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    text = make(file)
    assert text not in file.read_text()
    assert text.rpartition("_")[2] not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (token,) = tokens.read(file).values()
    assert token.proven_by(text)
    assert not token.proven_by(text[:-1])
    assert tokens.id_in(text) == token.id


def test_processes_that_add_tokens_at_once_lose_none(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    context = get_context("fork")
    crew = [context.Process(target=make_many, args=(file, 20)) for _ in range(3)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    assert len(tokens.read(file)) == 60
    assert sorted(one.name for one in tmp_path.iterdir()) == [".tokens.lock", "tokens"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"tokens": [], "format": 2}', '{"tokens": [1], "format": 1}']
)
def test_file_that_is_none_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(text)
    with pytest.raises(TokenFileError, match="is no file of tokens") as error:
        tokens.read(file)
    assert "\n" not in str(error.value)


def test_roles_are_those_of_the_service() -> None:
    assert tokens.ROLES == tuple(role.name.lower() for role in Role if role)


def test_change_is_seen_that_leaves_time_size_and_inode_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    before, after = make(tmp_path / "a"), make(tmp_path / "b")
    file.write_bytes((tmp_path / "a").read_bytes())
    found = file.stat()
    provider = TokenFile(file)

    async def known(text: str) -> bool:
        try:
            return await provider.caller(Credentials(text)) is not None
        except Unauthenticated:
            return False

    async def ends() -> None:
        assert await known(before)
        file.write_bytes((tmp_path / "b").read_bytes())
        os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
        changed = file.stat()
        assert (changed.st_size, changed.st_mtime_ns) == (found.st_size, found.st_mtime_ns)
        assert await known(after)
        assert not await known(before)

    asyncio.run(ends())


def test_changes_are_seen_while_the_clock_of_files_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokens"
    texts = [make(tmp_path / name) for name in ("a", "b")]
    contents = [(tmp_path / name).read_bytes() for name in ("a", "b")]
    # (A kernel may count in steps of 10 ms, a file server in seconds.)
    tick = time.time_ns()
    monkeypatch.setattr(token_files, "_version", lambda path: (tick, 1, path.stat().st_size))
    file.write_bytes(contents[0])
    provider = TokenFile(file)
    for number in (1, 0):
        file.write_bytes(contents[number])
        assert asyncio.run(provider.caller(Credentials(texts[number]))) is not None


@pytest.mark.integration
def test_server_tells_who_calls(world: World) -> None:
    assert not world.info().HasField("caller")
    caller = world.info(world.token("tuner", OWN, "tom")).caller
    assert caller == server_pb2.ServerCaller(
        name="tom", project=OWN, role=server_pb2.CALLER_ROLE_TUNER
    )


@pytest.mark.integration
def test_call_with_two_tokens_is_refused_even_if_both_are_good(world: World) -> None:
    # A proxy in front of the service may have judged only one of them.
    one, other = (f"Bearer {world.token('viewer', OWN, name)}" for name in ("vic", "val"))
    both = (("authorization", one), ("authorization", other))
    stub = server_pb2_grpc.ServerServiceStub(world.channel)
    error = refusal(lambda: stub.GetServerInfo(server_pb2.GetServerInfoRequest(), metadata=both))
    assert reason_of(error) == "CREDENTIALS_INVALID"
    for path in ("/v1/server", "/v1/sessions"):
        answer = httpx.get(f"{world.process.ready['http']}{path}", headers=list(both))
        assert answer.status_code == 401
        assert answer.json()["error"]["details"][0]["reason"] == "CREDENTIALS_INVALID"


@pytest.mark.integration
def test_token_is_good_until_it_is_revoked_or_its_time_is_over(world: World) -> None:
    token, text = tokens.create(world.file, name="eve", project=OWN, role="viewer")
    assert world.info(text).caller.name == "eve"
    tokens.revoke(world.file, token.id)
    assert reason_of(refusal(lambda: world.info(text))) == "CREDENTIALS_INVALID"
    over = int(time.time()) - 1
    _, text = tokens.create(world.file, name="eve", project=OWN, role="viewer", expires=over)
    error = refusal(lambda: world.info(text))
    assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    assert "expired" in str(error.details())


@pytest.mark.integration
def test_file_that_is_broken_while_the_service_runs_changes_nothing(world: World) -> None:
    token = world.token("viewer")
    # (A service keeps the tokens that it has seen: before, the token may be in the file only.)
    assert world.info(token).caller.project == OWN
    whole = world.file.read_bytes()
    try:
        world.file.write_text("{")
        assert world.info(token).caller.project == OWN
        wait_until(lambda: "the tokens stay as they were" in world.log.read_text())
    finally:
        world.file.write_bytes(whole)
    assert world.info(token).caller.project == OWN


@pytest.mark.integration
def test_stream_of_a_revoked_token_takes_no_further_answer(world: World) -> None:
    admin = world.as_("admin")
    session = admin.create().name
    token, text = tokens.create(world.file, name="lea", project=OWN, role="labeler")
    labeler = world.as_token(text).labeler(session, "", credit=0)
    labeler.expect("welcome")
    tokens.revoke(world.file, token.id)
    labeler.send(
        answer=oracle_pb2.Answer(answer_id="1", session=session, observation_id="0", verdict=INLIER)
    )
    error = labeler.end()
    assert error is not None
    assert reason_of(error) == "CREDENTIALS_INVALID"
    counts = admin.tuning.GetSession(tuning_pb2.GetSessionRequest(name=session)).session.counts
    assert counts.total == 0
