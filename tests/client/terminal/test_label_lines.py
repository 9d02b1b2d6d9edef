"""``svddtune label`` for pipes and programs: lines are answers, or JSON with --json-lines."""

import json
import subprocess
from typing import Any

import pytest
from tests.client.scene import blob
from tests.client.terminal.terminal import PROGRAM

from svddtune.client import EmbeddedStack, Session, TuningClient
from svddtune.client.cli.app import run

pytestmark = pytest.mark.integration

X, Y = blob(6)


def start(client: TuningClient, budget: int = 4, **knobs: Any) -> Session:
    dataset = client.upload_dataset(X, feature_names=["width", "height"], scaling="minmax")
    # Without the atlas, which takes most of the time of a small session.
    return client.create_session(dataset, budget=budget, strategy="lama", **knobs)


def command(stack: EmbeddedStack, session: str, *options: str) -> list[str]:
    labeler = ["--server", stack.address, "--labeler", "ann"]
    return [*PROGRAM, "label", session, *labeler, *options]


def labelled(
    stack: EmbeddedStack, session: Session, lines: str, *options: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(stack, session.name, *options),
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_each_line_answers_one_question(stack: EmbeddedStack, client: TuningClient) -> None:
    session = start(client)
    done = labelled(stack, session, "i\no\nundo\ninlier\nunsure\nskip\nwhat?\nu 99\ni\nquit\n")
    assert done.returncode == 0
    assert "ann: 4 answers (3 inlier, 1 unsure)" in done.stdout
    assert "outlier taken back" in done.stderr
    assert "'what?' is not an answer or a command" in done.stderr
    assert "Query 99 is not open" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert client.get_session(session).counts.inlier == 3


def test_end_of_input_leaves_after_the_last_answer_is_stored(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = start(client)
    done = labelled(stack, session, "outlier")
    assert done.returncode == 0
    assert [event.verdict for event in client.labels(session)] == ["outlier"]


def test_probable_answer_is_stored_with_its_confidence(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = start(client)
    done = labelled(stack, session, "probably outlier\nundo\nk\ni\nquit\n")
    assert "ann: 2 answers (1 inlier, 1 probably inlier)" in done.stdout
    assert [(e.kind, e.verdict, e.confidence) for e in client.labels(session)] == [
        ("labeled", "outlier", 0.75),
        ("retracted", "outlier", None),
        ("labeled", "inlier", 0.75),
        ("labeled", "inlier", None),
    ]


def test_labeler_without_the_tags_is_told_and_need_not_wait_for_the_result(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = start(client, required_tags=["german"])
    with subprocess.Popen(
        command(stack, session.name),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        # (Its input stays open: the session ends it.)
        assert child.wait(60) == 0
        assert child.stderr is not None
        assert "asks only labelers with certain tags; give yours with --tag" in child.stderr.read()
    done = labelled(stack, session, "i\n", "--tag", "german")
    assert "ann: 1 answer (1 inlier)" in done.stdout


def test_drop_needs_a_yes(stack: EmbeddedStack, client: TuningClient) -> None:
    session = start(client)
    done = labelled(stack, session, "drop\nno\ndrop\nyes\ni\n")
    assert "Kept in the session" in done.stderr
    assert "dropped from the session" in done.stderr
    assert client.get_session(session).counts.total == 1


@pytest.mark.parametrize("options", [(), ("--unary",)])
def test_program_reads_questions_and_writes_verdicts(
    stack: EmbeddedStack, client: TuningClient, options: tuple[str, ...]
) -> None:
    session = start(client)
    with subprocess.Popen(
        command(stack, session.name, "--json-lines", *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        asked: list[dict[str, Any]] = []
        kinds: list[str] = []
        for line in child.stdout:
            event = json.loads(line, parse_constant=pytest.fail)
            kinds.append(event["event"])
            if event["event"] == "query":
                if not asked:  # an answer to another question is no answer to this one
                    child.stdin.write("outlier 77\n")
                asked.append(event)
                word = "inlier" if Y[event["row"]] > 0 else "outlier"
                child.stdin.write(f"{word} {event['query']}\n")
                child.stdin.flush()
    assert child.returncode == 0
    assert kinds.count("query") == kinds.count("stored") == 4
    assert kinds.count("refused") == 1
    assert kinds[-1] == "end"
    first, end = asked[0], event
    assert first["features"] == X[first["row"]].tolist()
    assert first["feature_names"] == ["width", "height"]
    assert first["budget"] == 4
    assert {item["column"] for item in first["unusual"]} == {0, 1}
    assert end["reason"] == "BUDGET_SPENT"
    assert sum(end["answers"].values()) == 4
    assert end["result"]["gamma"] > 0
    truth = {str(row): sign for row, sign in enumerate(Y)}
    assert all(
        e.verdict and e.verdict.sign == truth[e.observation_id] for e in client.labels(session)
    )


def test_session_is_found_by_id_start_and_name(
    stack: EmbeddedStack, client: TuningClient, capsys: pytest.CaptureFixture[str]
) -> None:
    session = start(client, name="only this one")
    for wanted in (session.name, session.name.removeprefix("sessions/")[:-1], "only this one"):
        done = subprocess.run(
            command(stack, wanted), input="quit", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    start(client, name="only this one")
    assert run(["label", "only this one", "--server", stack.address]) == 2
    assert "matches 2 sessions" in capsys.readouterr().err


def test_labeler_without_the_tags_is_told_nothing_but_that(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = start(client, required_tags=["german"])
    done = labelled(stack, session, "i\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.strip().splitlines()[-1].endswith("give yours with --tag.")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["label"], 2, "Name one session to label"),
        (["label", "x", "--any"], 2, "Name one session to label"),
        (["label", "nowhere"], 1, "There is no session 'nowhere'"),
        (["label", "x", "--credit", "0"], 2, "--credit"),
        (["label", "--any", "--labeler", "no spaces"], 2, "'no spaces'"),
    ],
)
def test_error_is_reported_in_one_line(
    stack: EmbeddedStack, arguments: list[str], code: int, says: str
) -> None:
    done = subprocess.run(
        [*PROGRAM, *arguments, "--server", stack.address],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_error_is_reported_as_a_json_line(
    stack: EmbeddedStack, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["label", "nowhere", "--json-lines", "--server", stack.address]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["reason"] == "SESSION_NOT_FOUND"
    assert "There is no session 'nowhere'" in err


def test_unreachable_service_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["label", "x", "--server", "127.0.0.1:1"]) == 1
    assert "svddtune up" in capsys.readouterr().err
