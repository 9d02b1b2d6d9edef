"""``svddtune token`` makes, lists and revokes the tokens that a service reads."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from svddtune.client.cli.app import run
from svddtune.process import tokens


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["token", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_token_is_made_shown_once_listed_and_revoked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokens"
    options = ("--tokens", str(file), "--role", "tuner", "--project", "north", "--days", "2")
    assert run(["token", "create", "ann", *options]) == 0
    out, err = capsys.readouterr()
    token_id = tokens.id_in(out.strip())
    assert token_id is not None
    assert tokens.read(file)[token_id].proven_by(out.strip())
    assert "ann, tuner of project north" in err
    (listed,) = told(capsys, "list", "--tokens", str(file))["tokens"]
    assert (listed["id"], listed["name"], listed["role"]) == (token_id, "ann", "tuner")
    expires = tokens.read(file)[token_id].expires
    assert expires is not None
    assert abs(expires - time.time() - 2 * 86_400) < 60
    assert run(["token", "list", "--tokens", str(file)]) == 0
    shown = capsys.readouterr().out
    assert token_id in shown
    assert out.strip() not in shown
    assert told(capsys, "revoke", token_id, "--tokens", str(file))["revoked"]["id"] == token_id
    assert told(capsys, "list", "--tokens", str(file)) == {"tokens": []}


@pytest.mark.parametrize(
    ("arguments", "reason", "word"),
    [
        (["create", "a b"], "USAGE", "NAME"),
        (["create", "ann", "--role", "king"], "USAGE", "viewer, labeler, tuner, admin"),
        (["create", "ann", "--project", "No"], "USAGE", "--project"),
        (["revoke", "0123"], "TOKEN_NOT_FOUND", "svddtune token list"),
    ],
)
def test_wrong_argument_is_said_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
    word: str,
) -> None:
    file = tmp_path / "tokens"
    tokens.create(file, name="ann", project="default", role="viewer")
    assert run(["token", *arguments, "--tokens", str(file), "--json"]) != 0
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["reason"] == reason
    assert word in error["message"]
    assert len(tokens.read(file)) == 1


def test_file_that_is_none_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokens"
    file.write_text("mine")
    assert run(["token", "create", "ann", "--tokens", str(file)]) != 0
    assert "is no file of tokens" in capsys.readouterr().err
    assert file.read_text() == "mine"
