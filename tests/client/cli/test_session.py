"""``svddtune dataset`` and ``svddtune session``: a session's whole life on the command line.

Every command that a command suggests is run as it was printed.
"""

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.client.cli.hints import hints, words
from tests.client.scene import blob
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, SessionState, SvddModel, TuningClient
from svddtune.client.cli.app import run
from svddtune.client.cli.columns import Column, print_table
from svddtune.client.cli.failure import EXIT_DRIFT
from svddtune.client.cli.lookup import session_names
from svddtune.client.cli.options import DEFAULT_SERVER
from svddtune.client.cli.service import Service, reach_as
from svddtune.client.phrases import gamma_of

pytestmark = pytest.mark.integration

Printed = pytest.CaptureFixture[str]


class Terminal(io.StringIO):
    """Keys pressed at a terminal."""

    def isatty(self) -> bool:
        return True


class Shell:
    """Runs commands on a service, and keeps what they suggest."""

    def __init__(self, address: str, printed: Printed) -> None:
        self.server = ["--server", address]
        self.printed = printed
        self.suggested: list[list[str]] = []
        self.ran = set[str]()
        self.seen = set[str]()

    def __call__(self, line: str, *more: str, code: int = 0) -> str:
        """Run a command; return what it printed on stdout."""
        return self.run([*line.split(), *more, *self.server], code)

    def run(self, arguments: list[str], code: int = 0) -> str:
        """Run arguments as they are."""
        assert run(arguments) == code, (arguments, self.printed.readouterr())
        out, self.err = self.printed.readouterr()
        found = list(hints(self.err + out))
        self.suggested += found
        self.seen.update(map(words, found))
        return out

    def json(self, line: str, *more: str, code: int = 0) -> Any:
        """Run a command with --json; return its document."""
        return json.loads(self(line, *more, "--json", code=code), parse_constant=pytest.fail)

    def follow(self, name: str) -> str:
        """Run the command that was suggested last, which has this name."""
        arguments = self.suggested.pop()
        assert words(arguments) == name
        self.ran.add(name)
        return self.run(arguments)


@pytest.fixture
def shell(
    stack: EmbeddedStack, capsys: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Shell:
    monkeypatch.chdir(tmp_path)
    for name in ("SVDDTUNE_SERVER", "SVDDTUNE_TLS_CA", "SVDDTUNE_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return Shell(stack.address, capsys)


def write_pumps(seed: int, name: str = "pumps.csv", *, first: int = 0) -> None:
    X, y = blob(seed)
    lines = ["pump,hall,a,b,fixed,class"]
    for row, (a, b) in enumerate(X.tolist(), first):
        lines.append(f"pump-{row},{'AB'[row % 2]},{a!r},{b!r},7,{int(y[row - first] < 0)}")
    Path(name).write_text("\n".join(lines) + "\n")


def pause(shell: Shell, client: TuningClient, session: str) -> Any:
    """Pause a session once its dataset is prepared."""
    for update in client.watch(f"sessions/{session}"):
        if update.session.state is SessionState.LABELING:
            break
    return shell.json("session pause", session)


def reopen(shell: Shell, client: TuningClient, session: str) -> Any:
    """Reopen an observation that has one vote."""
    observation = next(client.list_observations(client.get_session(f"sessions/{session}").dataset))
    name = observation.observation_id
    client.label_all(f"sessions/{session}", {name: "outlier"}, labeler="ann")
    found = shell.json(f"session reopen {session} {name}")
    assert (found["retracted_votes"], found["counts"]["total"]) == (1, 0)
    return found


COLUMNS = "--id-column pump --show hall --label-column class"


@pytest.fixture
def pumps(shell: Shell) -> str:
    """The id of a dataset of 60 pumps, each time another."""
    write_pumps(next(_SEEDS))
    return shell(f"dataset add pumps.csv {COLUMNS} --ignore fixed").strip()


_SEEDS: Iterator[int] = iter(range(5000, 6000))


@pytest.mark.slow
def test_life_of_a_session_by_the_commands_that_are_suggested(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pumps(next(_SEEDS))
    data = shell(f"dataset add pumps.csv {COLUMNS} --label team=fraud").strip()
    assert "'fixed' has the value 7 in every row" in shell.err
    assert "Stored 'pumps': 60 rows, 3 columns." in shell.err
    session = shell.follow("session create").strip()
    assert "asks for 50 labels of 60 observations" in shell.err

    watch = shell.suggested.pop()
    shell(f"session update {session} --budget 8")
    with lines("inlier\n" * 8) as answers:
        monkeypatch.setattr(sys, "stdin", answers)
        shell.follow("label")
    shell.follow("export")
    Path("plain.csv").write_text("a,b,fixed\n1,2,7\n30,-40,7\n")
    model = SvddModel.load(f"{session}.npz")
    assert model.feature_names == ("a", "b", "fixed")
    here = shell.json(f"predict {session}.npz plain.csv")
    there = shell.json(f"predict {session[:14]} plain.csv")
    assert there["model"].pop("session") == f"sessions/{session}"
    assert here["model"].pop("file") == f"{session}.npz"
    assert there | {"model": there["model"] | {"session": None}} == here | {
        "model": here["model"] | {"file": None}
    }
    assert shell.run(watch).startswith(f"sessions/{session}  completed  8/8 labels")

    assert "answers   8 of 8 labels (8 inlier" in shell(f"session show {session}")
    shell.follow("export")
    shell(f"session update {session} --budget 9")
    shell.follow("session resume")
    shell(f"session pause {session}")
    shell.follow("session resume")
    shell(f"session finish {session}")
    shell.follow("watch")
    shell(f"dataset remove {data} --yes", code=1)
    assert "[DATASET_IN_USE]" in shell.err
    assert session in shell.follow("session list")
    assert "sessions  1" in shell(f"dataset show {data}")
    assert session in shell.follow("session list")

    clone = shell(f"session clone {session} --labels --budget 20").strip()
    assert f"and has 8 labels from sessions/{session}" in shell.err
    shell(f"session cancel {clone}")
    shell("session show", clone)
    again = shell.follow("session clone").strip()
    (deletion,) = [one for one in shell.suggested if words(one) == "session delete"]
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert shell.run(deletion, code=2) == ""
    assert "give --yes" in shell.err
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    shell.suggested.append(deletion)
    shell.follow("session delete")
    for one in (again, session):
        shell(f"session delete {one} --yes")
    assert "Start a session" in (shell(f"dataset show {data}"), shell.err)[1]
    shell(f"session delete {shell.follow('session create').strip()} --yes")
    shell(f"dataset remove {data} --yes")
    shell(f"dataset show {data}", code=1)
    assert data not in shell.follow("dataset list")
    assert shell.seen - shell.ran == set()


@contextmanager
def lines(text: str) -> Iterator[Any]:
    """A pipe with lines, which stays open: the session ends the labelling."""
    read, write = os.pipe()
    os.write(write, text.encode())
    with os.fdopen(read) as answers, os.fdopen(write, "w"):
        yield answers


def test_documents_have_the_keys_that_the_page_lists(
    shell: Shell, client: TuningClient, pumps: str
) -> None:
    made = shell.json(f"session create {pumps} --budget 4 --visible-feature a --label team=fraud")
    id_ = made["name"].removeprefix("sessions/")
    found = {
        "dataset add": shell.json(f"dataset add pumps.csv {COLUMNS} --ignore fixed"),
        "dataset list": shell.json("dataset list"),
        "dataset show": shell.json("dataset show", pumps),
        "session create": made,
        "session list": shell.json("session list"),
        "session show": shell.json("session show", id_),
        "session update": shell.json(f"session update {id_} --priority 3 --name new"),
        "session pause": pause(shell, client, id_),
        "session resume": shell.json("session resume", id_),
        "session labels": shell.json("session labels", id_),
        "session labels --log": shell.json("session labels --log", id_),
        "session reopen": reopen(shell, client, id_),
        "session agreement": shell.json("session agreement", id_),
        "session clone": shell.json("session clone", id_),
        "session cancel": shell.json("session cancel", id_),
    }
    assert (found["session update"]["config"]["priority"], found["session update"]["name"]) == (
        3,
        made["name"],
    )
    clone = found["session clone"]
    assert clone["config"] == made["config"] | {"priority": 3}
    assert (clone["display_name"], clone["labels"]) == ("new", {"team": "fraud"})
    for name in (made["name"], clone["name"]):
        found["session delete"] = shell.json("session delete --yes", name)
    found["dataset remove"] = shell.json("dataset remove --yes", pumps)
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text()
    for command, document in found.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{command}` |")]
        cell = row.split("|")[2]
        keys = set(cell.rpartition(":")[2].replace("all of", "").replace("`", "").split())
        for whole in ("dataset show", "session show"):
            if f"all of `{whole}`" in cell:
                keys = keys - set(whole.split()) | set(found[whole])
        assert set(document) == keys, command


def test_names_are_ids_starts_of_ids_and_display_names(shell: Shell, pumps: str) -> None:
    one, two = (
        shell(f"session create {pumps} --name {name}").strip() for name in ("north", "south")
    )
    number = one.partition("-")[2]
    for word in (one, f"sessions/{one}", one[:14], number[:10], "north"):
        assert shell.json("session show", word)["display_name"] == "north"
        assert shell.json("labelers show", word)["labelers"] == []
    for word in (f"datasets/{pumps}", pumps[:9]):
        assert shell.json("dataset show", word)["name"] == f"datasets/{pumps}"
    listed = shell.json("session list --name OUT --dataset", pumps)["sessions"]
    assert [item["name"] for item in listed] == [f"sessions/{two}"]
    error = shell.json("session show p", code=2)["error"]
    assert error["reason"] == "SESSION_AMBIGUOUS"
    for command in ("watch", "export", "label", "finish", "session pause", "labelers show"):
        shell(command, "nobody", code=1)
        assert "[SESSION_NOT_FOUND]" in shell.err
        assert one in shell.follow("session list")
    Path("plain.csv").write_text("a,b\n" + "".join(f"{n},{n * n}\n" for n in range(60)))
    shell("session create plain.csv", code=1)
    shell.follow("dataset add")
    for name in (one, two):
        shell("session delete --yes", name)


def test_labels_come_as_table_csv_and_json_and_start_another_session(
    shell: Shell, client: TuningClient, pumps: str
) -> None:
    session = shell(f"session create {pumps}").strip()
    name = f"sessions/{session}"
    client.label_all(name, {"pump-1": "inlier", "pump-2": "outlier"}, labeler="ann")
    client.label_all(name, {"pump-3": "unsure"}, labeler="bob")
    client.label_all(name, {"pump-9": "outlier"}, labeler="eve")
    client.withdraw_labeler(name, "eve")
    labels = shell.json(f"session labels {session}")["labels"]
    assert [(one["observation_id"], one["verdict"]) for one in labels] == [
        ("pump-1", "inlier"),
        ("pump-2", "outlier"),
        ("pump-3", "unsure"),
    ]
    assert [vote["labeler"] for vote in labels[2]["votes"]] == ["bob"]
    table = shell(f"session labels {session}").splitlines()
    assert table[0].split() == ["observation", "verdict", "votes", "labelers"]
    assert table[2].split() == ["pump-2", "outlier", "1", "ann"]
    Path("labels.csv").write_text(shell(f"session labels {session} --csv"))
    other = shell.json(f"session create {pumps} --start labels.csv --labeler ada --budget 5")
    assert other["counts"] == {"inlier": 1, "outlier": 1, "unsure": 0, "total": 2}

    log = shell.json(f"session labels {session} --log")["events"]
    assert [event["kind"] for event in log].count("labeled") == 4
    assert log[-1]["kind"] == "withdrawn"
    lines = shell(f"session labels {session} --log --csv").splitlines()
    assert len(lines) == len(log) + 1
    assert lines[-1].split(",")[1:6] == ["withdrawn", "", "0", "", "eve"]
    assert len(shell(f"session labels {session} --log").splitlines()) == len(log) + 1
    for name in (other["name"], session):
        shell("session delete --yes", name)


def test_changes_are_made_only_to_the_session_as_it_was_seen(
    shell: Shell, client: TuningClient, pumps: str
) -> None:
    session = shell(f"session create {pumps} --label team=fraud --retention-s 0").strip()
    assert pause(shell, client, session)["retention_s"] == 0
    seen = shell.json("session show", session)["etag"]
    shell(f"session update {session} --priority 7 --etag {seen}")
    for command in ("update --priority 8", "delete --yes"):
        error = shell.json(f"session {command} {session} --etag {seen}", code=1)["error"]
        assert error["reason"] == "ETAG_MISMATCH"
    assert shell.json(f"session update {session} --no-labels")["labels"] == {}
    assert shell.json(f"session update {session} --label a=b")["labels"] == {"a": "b"}
    assert shell.json(f"session update {session} --retention-s 60")["retention_s"] == 60
    assert shell.json("session show", session)["retention_s"] == 60
    assert shell.json(f"session update {session} --retention-s service")["retention_s"] is None
    shell(f"session update {session} --retention-s soon", code=2)
    assert "'soon' must be a number of seconds, or 'service'" in shell.err
    error = shell.json(f"session update {session} --retention-s 0.5", code=1)["error"]
    assert error["reason"] == "INVALID_FIELD"
    shell(f"session update {session}", code=2)
    assert "Nothing to change" in shell.err
    now = shell.json("session show", session)["etag"]
    shell(f"session delete {session} --yes --etag {now}")


def test_trusts_are_given_changed_shown_and_taken_away(
    shell: Shell, client: TuningClient, pumps: str
) -> None:
    made = shell.json(f"session create {pumps} --trust bob=0.75 --trust ann=1")
    assert made["config"]["trusts"] == {"ann": 1.0, "bob": 0.75}
    session = made["name"].removeprefix("sessions/")
    pause(shell, client, session)
    assert "trusts ann=1, bob=0.75" in shell(f"session show {session}")
    clone = shell.json(f"session clone {session}")
    assert clone["config"]["trusts"] == made["config"]["trusts"]
    changed = shell.json(f"session update {session} --trust cem=0.9")
    assert changed["config"]["trusts"] == {"cem": 0.9}
    assert shell.json(f"session update {session} --no-trusts")["config"]["trusts"] == {}
    for wrong in ("bob", "bob=high", "bob=0.5", "b/b=0.8"):
        shell(f"session update {session} --trust {wrong}", code=2)
        assert "--trust is " in shell.err
    shell(f"session create {pumps} --trust bob=0.8 --trust bob=0.9", code=2)
    assert "each name once" in shell.err
    shell(f"session update {session} --trust a=0.8 --no-trusts", code=2)
    for name in (session, clone["name"]):
        shell("session delete --yes", name)


def test_clone_has_the_control_items_that_it_is_given(shell: Shell, pumps: str) -> None:
    session = shell(f"session create {pumps} --budget 10").strip()
    Path("known.csv").write_text("id,verdict\npump-1,ok\npump-2,broken\n")
    Path("none.csv").write_text("id,verdict\nnobody,broken\n")
    command = f"session clone {session} --control-share 0.5 --outlier-value broken --controls"
    clone = shell.json(f"{command} known.csv")
    assert clone["config"]["control_share"] == 0.5
    error = shell.json(f"{command} none.csv", code=1)["error"]
    assert error["reason"] == "UNKNOWN_OBSERVATION"
    for name in (session, clone["name"]):
        shell("session delete --yes", name)


def test_deletion_is_asked_about_at_a_terminal(
    shell: Shell, pumps: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = shell(f"session create {pumps}").strip()
    for key, code in (("n", 1), ("y", 0)):
        monkeypatch.setattr(sys, "stdin", Terminal(f"{key}\n"))
        shell(f"session delete {session}", code=code)
    assert f"Session {session} is deleted." in shell.err
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    shell(f"dataset remove {pumps}")
    assert f"Dataset {pumps} is removed." in shell.err


@pytest.mark.parametrize("width", [40, 80, 200])
def test_tables_fit_the_terminal_and_keep_ids(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    columns = (
        Column("session"),
        Column("name", flexible=True),
        Column("labels", right=True),
        Column("created", rank=1),
    )
    id_, name = "p00-7766739f101a4f92a257", "pumps of the third hall, all of last winter's rows"
    # A terminal, as rich sees one.
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(columns, [(id_, name, "8/50", "2026-11-29 18:04")])
    text = capsys.readouterr().out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert max(map(len, text.splitlines())) <= width
    assert id_ in text
    assert (name in text) is (width == 200)
    assert ("created" in text) is (width > 40)
    assert "8/50" in text


def test_session_that_nobody_waits_for_suggests_to_label_with_its_tags(
    shell: Shell, client: TuningClient, pumps: str
) -> None:
    settings = "--overlap 2 --adjudicator dora --adjudicator erik --required-tag german --budget 6"
    session = shell(f"session create {pumps} {settings}").strip()
    label = f"label {session} --tag german {' '.join(shell.server)}"
    assert label in shell.err
    name = f"sessions/{session}"
    with client.tuning(name, labeler="ann", tags=["german"]) as tuning:
        query = next(tuning.queries())
        tuning.answer(query, "inlier")
    client.label_all(name, {query.observation_id: "outlier"}, labeler="bob")
    wait_until(lambda: client.get_session(name).waiting_count == 0)
    shown = shell(f"session show {session}")
    assert "1 observation waits for an adjudicator" in shown
    assert "adjudicators dora erik, required_tags german\n" in shown
    assert label in shell.err
    assert "more votes" not in shell.err
    shell(f"session pause {session}")
    shell(f"session resume {session}")
    assert label in shell.err
    shell(f"dataset remove --yes {pumps}", code=1)
    assert "delete them first. List its sessions" in shell.err
    shell(f"session delete --yes {session}")


def test_list_says_what_a_session_waits_for(
    shell: Shell, client: TuningClient, pumps: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = f"session create {pumps} --strategy lama --overlap 2 --budget 1 --name"
    session = shell(made, "pumps of the third hall, all of last winter").strip()
    with client.tuning(f"sessions/{session}", labeler="ann") as tuning:
        tuning.answer(next(tuning.queries()), "inlier")
        wait_until(lambda: client.get_session(tuning.name).stall == "awaiting_votes")
        with monkeypatch.context() as terminal:
            terminal.setenv("FORCE_COLOR", "1")  # a terminal, of 80 columns
            terminal.setenv("NO_COLOR", "1")
            listed = shell("session list").splitlines()
    assert max(map(len, listed[1:])) <= 80
    (line,) = (line for line in listed if line.startswith(session))
    assert re.search(r"…\s+labeling\s+votes\s", line)
    shell(f"session delete --yes {session}")


def test_session_that_chooses_without_the_atlas_shows_both(
    shell: Shell, client: TuningClient, pumps: str
) -> None:
    session = shell(f"session create {pumps} --strategy lama --budget 9").strip()
    name = f"sessions/{session}"
    wait_until(lambda: client.get_session(name).atlas_progress == 1)
    observation = next(client.list_observations(f"datasets/{pumps}"))
    client.label_all(name, {observation.observation_id: "inlier"}, labeler="ann")
    wait_until(lambda: client.get_session(name).live is not None)
    shown = shell(f"session show {session}")
    own = client.get_session(name)
    assert f"\nevidence  gamma {gamma_of(own.gamma, own.scaling)}, alignment" in shown
    assert "\natlas     gamma" in shown
    assert "\nadvice    " in shown
    assert "\nsettings  budget 9, strategy lama\n" in shown
    shell(f"session delete --yes {session}")


def complete(line: str, monkeypatch: pytest.MonkeyPatch, printed: Printed) -> list[str]:
    """What bash offers at the end of a line."""
    monkeypatch.setenv("_SVDDTUNE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with pytest.raises(SystemExit, match="0"):
        run([])
    monkeypatch.delenv("_SVDDTUNE_COMPLETE")
    out, err = printed.readouterr()
    assert err == ""
    return out.split()


def test_shell_completes_sessions_and_datasets(
    shell: Shell, pumps: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    session = shell(f"session create {pumps} --name north").strip()
    before = f"svddtune session show --server {shell.server[1]}"
    assert session in complete(f"{before} {session[:12]}", monkeypatch, capsys)
    assert complete(f"{before} nort", monkeypatch, capsys) == ["north"]
    line = f"svddtune dataset remove --server {shell.server[1]} {pumps[:12]}"
    assert complete(line, monkeypatch, capsys) == [pumps]
    shell("session delete --yes", session)


def test_completion_is_silent_where_no_service_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    assert complete("svddtune watch --server 127.0.0.1:1 p", monkeypatch, capsys) == []


def test_suggested_command_repeats_what_leads_to_the_service(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SVDDTUNE_TLS_CA", raising=False)
    ca = tmp_path / "our ca.pem"
    service = Service("host:1", ca)
    assert service.command("watch", "p") == f"svddtune watch p --server host:1 --tls-ca '{ca}'"
    monkeypatch.setenv("SVDDTUNE_SERVER", "host:1")
    monkeypatch.setenv("SVDDTUNE_TLS_CA", str(ca))
    assert service.command("watch", "p") == "svddtune watch p"


def test_suggested_command_repeats_who_calls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # (Set before it is removed, so that it is removed again after the test.)
    monkeypatch.setenv("SVDDTUNE_TOKEN_FILE", "")
    monkeypatch.delenv("SVDDTUNE_TOKEN_FILE")
    monkeypatch.delenv("SVDDTUNE_SERVER", raising=False)
    token = tmp_path / "token"
    reach_as({"token_file": token, "client_cert": None})
    said = f"svddtune --token-file {token} session list"
    assert Service(DEFAULT_SERVER).command("session", "list") == said
    # (It is in the environment now, as if the user had set it.)
    reach_as({"token_file": token})
    assert Service(DEFAULT_SERVER).command("session", "list") == "svddtune session list"


def test_other_commands_take_the_same_names(
    shell: Shell, client: TuningClient, pumps: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = shell(f"session create {pumps} --name north --budget 6").strip()
    number = session.partition("-")[2][:10]
    votes = {f"pump-{row}": "inlier" for row in range(6)}
    client.label_all(f"sessions/{session}", votes, labeler="ann")
    client.wait_until_completed(f"sessions/{session}")
    Path("tickets.csv").write_text("id,status\npump-7,closed\n")
    for word in ("north", number, session[:14], f"sessions/{session}"):
        # (Whether a model of six labels finds that its own rows have drifted is not asked here.)
        drift = ["drift", word, "pumps.csv", "--id-column", "pump", "--json", *shell.server]
        assert run(drift) in (0, EXIT_DRIFT)
        assert json.loads(shell.printed.readouterr().out)["model"].endswith(session)
        shell(f"oracle check tickets.csv --mapping none --session {word}", code=1)
        assert "[MAPPING_UNKNOWN]" in shell.err  # the session was found before
        assert session_names(Service(shell.server[1]), [word]) == [f"sessions/{session}"]
    for command in ("drift nobody pumps.csv", "oracle check tickets.csv --mapping m --session no"):
        shell(command, code=1)
        assert "[SESSION_NOT_FOUND]" in shell.err
    assert session_names(Service("127.0.0.1:1"), ["sessions/x"]) == ["sessions/x"]
    shell(f"session delete {session} --yes")
