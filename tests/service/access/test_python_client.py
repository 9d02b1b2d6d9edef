"""The Python client, for asyncio and not, and the command line show a token."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.service.access.world import OWN, World

from svddtune.client import AsyncTuningClient, InvalidInput, PermissionDenied, TuningClient
from svddtune.client import Unauthenticated as NotShown
from svddtune.client.cli.app import run
from svddtune.process import tokens

pytestmark = pytest.mark.integration


@pytest.fixture
def address(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    # (The command line sets it for what it starts.)
    monkeypatch.setenv("SVDDTUNE_TOKEN_FILE", "")
    monkeypatch.delenv("SVDDTUNE_TOKEN_FILE")
    return str(world.process.ready["address"])


def test_client_shows_its_token(world: World, address: str) -> None:
    tuner = world.as_("tuner", "clients")
    session = tuner.create().name
    token = world.token("tuner", "clients")
    with TuningClient(address, token=token) as client:
        assert [one.name for one in client.list_sessions()] == [session]
        with client.tuning(session, credit=0) as tuning:
            tuning.label("0", "inlier")
        assert [one.labeler for one in client.labels(session)] == ["tuner-1"]
    with TuningClient(address) as client, pytest.raises(NotShown) as refused:
        list(client.list_sessions())
    assert refused.value.reason == "CREDENTIALS_MISSING"
    with (
        TuningClient(address, token=world.token("viewer", "clients")) as client,
        pytest.raises(PermissionDenied),
    ):
        client.upload_dataset([[0.0], [1.0]])
    with pytest.raises(InvalidInput, match="signs that no token has") as wrong:
        TuningClient(address, token="a b")
    assert wrong.value.reason == "INVALID_TOKEN"


def test_client_for_asyncio_shows_its_token_in_all_kinds_of_calls(
    world: World, address: str
) -> None:
    async def use() -> list[str]:
        async with AsyncTuningClient(address, token=world.token("tuner", "async")) as client:
            dataset = await client.upload_dataset([[float(i), 0.0] for i in range(12)])
            session = await client.create_session(dataset, budget=3)
            for stream in (True, False):
                async with client.tuning(session, credit=0, stream=stream) as tuning:
                    await tuning.label(str(int(stream)), "inlier")
            labels = [one.labeler async for one in client.labels(session)]
            assert labels == ["tuner-1"] * 2
            async for update in client.watch(session):
                assert update.session.name == session.name
                break
            return [session.name, *[one.name async for one in client.list_sessions()]]

    created, *listed = asyncio.run(use())
    assert listed == [created]


def test_simulated_labelers_are_refused_before_anything_is_made(
    world: World,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    token = world.token("admin", "simulated")
    monkeypatch.setenv("SVDDTUNE_TOKEN", token)
    assert run(["oracle", "simulate", "--demo", "--server", address]) == 2
    said = capsys.readouterr().err
    assert "'admin-1'" in said
    assert "Leave out --server" in said
    with TuningClient(address, token=token) as client:
        assert client.server_info().caller == "admin-1"
        assert list(client.list_datasets()) == []
        assert list(client.list_sessions()) == []


def test_command_line_takes_the_token_of_a_file_or_of_the_environment(
    world: World,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["sessions", "--server", address, "--json"]

    def told() -> Any:
        return json.loads(capsys.readouterr().out)

    assert run(command) != 0
    assert told()["error"]["reason"] == "CREDENTIALS_MISSING"
    monkeypatch.setenv("SVDDTUNE_TOKEN", world.token("viewer", "empty"))
    assert run(command) == 0
    assert told() == {"sessions": []}
    file = tmp_path / "token"
    file.write_text("svddtune_no_token\n")
    assert run(["--token-file", str(file), *command]) != 0
    assert told()["error"]["reason"] == "CREDENTIALS_INVALID"
    file.write_text(world.token("viewer", OWN) + "\n")
    assert run(["--token-file", str(file), *command]) == 0
    assert "sessions" in told()


def test_labeler_sees_sessions_on_the_command_line_and_changes_nothing(
    world: World, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tuner = world.as_("tuner", "lines").create()
    session = tuner.name.removeprefix("sessions/")
    file = tmp_path / "token"
    file.write_text(world.token("labeler", "lines"))

    def ends(line: str) -> int:
        return run(["--token-file", str(file), *line.split(), "--server", address])

    assert ends("session list") == 0
    assert session in capsys.readouterr().out
    # What it suggests shows the same token.
    assert ends(f"session show {session[:14]}") == 0
    assert ends("session show nobody") == 1
    assert f"svddtune --token-file {file} session list " in capsys.readouterr().err
    for line in (
        f"session labels {session}",
        f"session finish {session}",
        f"session update {session} --budget 3",
        f"session delete {session} --yes",
        f"watch {session}",
        "dataset list",
    ):
        assert ends(line) == 1, line
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1), line
        assert "[ROLE_TOO_LOW]" in err, line


@pytest.mark.parametrize("stream", [True, False])
def test_labeler_goes_on_with_the_token_that_replaces_the_one_that_ended(
    world: World, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    session = world.as_("admin", "renewed").create().name
    file = tmp_path / "token"
    monkeypatch.setenv("SVDDTUNE_TOKEN_FILE", str(file))

    def give() -> str:
        token, text = tokens.create(world.file, name="ann", project="renewed", role="labeler")
        file.write_text(text)
        return token.id

    first = give()
    with TuningClient(address) as client, client.tuning(session, credit=0, stream=stream) as ann:
        ann.label("0", "inlier")
        second = give()
        tokens.revoke(world.file, first)
        ann.label("1", "inlier")
        assert client.server_info().caller == "ann"
        tokens.revoke(world.file, second)
        with pytest.raises(NotShown) as refused:
            ann.label("2", "inlier")
        assert refused.value.reason == "CREDENTIALS_INVALID"


def test_labeler_ends_where_there_is_no_token_for_its_next_stream(
    world: World, address: str
) -> None:
    shown = [world.token("labeler", "clients")]
    with TuningClient(address, token=lambda: shown[0]) as client:
        shown[0] = "a b"
        for stream in (True, False):
            with client.tuning(stream=stream) as tuning, pytest.raises(InvalidInput):
                tuning.next_query()

    async def use() -> None:
        shown[0] = "ab"
        async with AsyncTuningClient(address, token=lambda: shown[0]) as client:
            shown[0] = "a b"
            async with client.tuning() as tuning:
                with pytest.raises(InvalidInput):
                    await tuning.next_query()

    asyncio.run(use())
