"""``svddtune label`` on a real terminal with a real service, which goes away and comes back."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.client.scene import blob
from tests.client.terminal.terminal import Terminal
from tests.e2e.processes import Process, service, worker
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, Session, TuningClient, Verdict

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

X, Y = blob(5)
# Pressed sooner a key is not taken: it was meant for the question before.
GUARD_S = 0.25


def start(client: TuningClient, budget: int = 6, **knobs: Any) -> Session:
    """A session on the blob, ready to ask."""
    dataset = client.upload_dataset(X, feature_names=["width", "height"], scaling="minmax")
    # Without the atlas, which takes most of the time of a small session.
    return client.create_session(dataset, budget=budget, strategy="lama", **knobs)


def labelling(server: str, session: Session, *options: str, **environment: str) -> Terminal:
    name = session.name.removeprefix("sessions/")
    arguments = ("label", name, "--server", server, "--labeler", "ann", *options)
    return Terminal(*arguments, environment=environment)


def question(window: str) -> str:
    """The observation that is asked about; empty where none is, or it is answered already."""
    found = re.search(r"^Query \d+   observation (\d+)(   \(again.*\))?$", window, re.MULTILINE)
    return found[1] if found and "[q]uit" in window else ""


def next_question(terminal: Terminal, before: str = "") -> str:
    """Wait for a question other than that before, and until keys are taken."""
    shown = ""
    while True:
        window = terminal.expect(lambda window: question(window) not in ("", before))
        if question(window) == shown:
            return shown
        # (What is half drawn may look like a question.)
        shown = question(window)
        terminal.rest(GUARD_S)


def key_for(observation: str) -> str:
    return "i" if Y[int(observation)] > 0 else "o"


def votes(client: TuningClient, session: Session) -> dict[str, str]:
    """The votes in force, by observation."""
    found: dict[str, str] = {}
    for event in client.labels(session):
        if event.kind == "labeled" and event.verdict is not None:
            found[event.observation_id] = event.verdict.value
        elif event.kind == "retracted":
            del found[event.observation_id]
    return found


@pytest.mark.parametrize(
    "options",
    [
        (),
        pytest.param(("--unary",), marks=pytest.mark.slow),
        pytest.param(("--credit", "3"), marks=pytest.mark.slow),
    ],
)
def test_person_labels_undoes_and_reads_the_result(
    stack: EmbeddedStack, client: TuningClient, options: tuple[str, ...]
) -> None:
    session = start(client)
    said: dict[str, str] = {}
    with labelling(stack.address, session, *options) as terminal:
        observation = ""
        for step in range(6):
            observation = next_question(terminal, observation)
            if step == 2:  # twice the wrong way, taken back in two steps
                first = [*said][-1]
                terminal.press("u")
                next_question(terminal, observation)
                terminal.press("zz")
                terminal.expect(f"observation {first}   (again: you said")
                terminal.rest(GUARD_S)
                terminal.press(key_for(first))
                observation = next_question(terminal, first)
            said[observation] = Verdict.of(int(Y[int(observation)])).value
            terminal.press(key_for(observation))
        assert terminal.wait() == 0
        text = terminal.screen.text
    assert "Finished: the budget of labels is spent." in text
    assert "ann: 6 answers" in text
    assert "kappa on the labels" in text
    assert votes(client, session) == said


@contextmanager
def front(redis_url: str) -> Iterator[Process]:
    """A service that can be killed, and a worker."""
    with worker(redis_url), service(redis_url) as process:
        yield process


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "drained"),
    [((), True), ((), False), (("--unary",), False)],
)
def test_question_and_key_survive_a_restart_of_the_service(
    redis_url: str, options: tuple[str, ...], drained: bool
) -> None:
    with front(redis_url) as process:
        address = process.ready["address"]
        with TuningClient(address) as client:
            session = start(client, lease_seconds=20.0)
            with labelling(address, session, *options) as terminal:
                observation = next_question(terminal)
                if drained:
                    process.stop()
                else:
                    process.kill()
                if not options:  # a stream that is gone is seen at once
                    terminal.expect("Connection lost, reconnecting")
                    terminal.expect(lambda window: question(window) == observation)
                terminal.press("o")
                terminal.expect("Connection lost, reconnecting ...; 1 answer kept")
                assert f"observation {observation}   outlier" in terminal.screen.window
                with service(redis_url, listen=address):
                    following = next_question(terminal, observation)
                    assert votes(client, session) == {observation: "outlier"}
                    assert "Connection lost" not in terminal.screen.window
                    terminal.press("q")
                    assert terminal.wait() == 0
                    events = [event.observation_id for event in client.labels(session)]
                    assert events == [observation]
                    with client.tuning(session, labeler="bob") as tuning:  # it was given back
                        query = tuning.next_query(timeout_s=20)
                        assert query is not None
                        assert query.observation_id == following


@pytest.mark.parametrize(
    ("options", "says"),
    [((), "somebody else answered it"), (("--unary",), "or it went to somebody else")],
)
def test_question_answered_by_somebody_else_is_replaced_by_the_next(
    stack: EmbeddedStack, client: TuningClient, options: tuple[str, ...], says: str
) -> None:
    session = start(client, lease_seconds=3.0)
    with labelling(stack.address, session, *options) as terminal:
        observation = next_question(terminal)
        with client.tuning(session, labeler="bob", credit=0) as bob:
            bob.label(observation, int(Y[int(observation)]))
        terminal.expect(says)
        assert next_question(terminal, observation) != observation
        terminal.press("q")
        assert terminal.wait() == 0


def test_interrupt_releases_the_query(stack: EmbeddedStack, client: TuningClient) -> None:
    session = start(client)
    with labelling(stack.address, session) as terminal:
        observation = next_question(terminal)
        terminal.press("\x03")
        assert terminal.wait() == 130
        assert "Traceback" not in terminal.screen.text
    with client.tuning(session, labeler="bob") as tuning:
        query = tuning.next_query(timeout_s=20)
        assert query is not None
        assert query.observation_id == observation


@pytest.mark.slow
def test_second_interrupt_leaves_at_once_and_lists_what_is_not_stored(redis_url: str) -> None:
    with front(redis_url) as process:
        with TuningClient(process.ready["address"]) as client:
            session = start(client)
            terminal = labelling(process.ready["address"], session)
        with terminal:
            observation = next_question(terminal)
            process.kill()
            terminal.press("o")
            terminal.expect("1 answer kept")
            terminal.signal(signal.SIGINT)
            terminal.expect("Storing your answers")
            terminal.signal(signal.SIGINT)
            assert terminal.wait(timeout_s=5) == 130
            assert f"Not stored: query 1 ({observation}): outlier" in terminal.screen.text


def test_waits_for_a_paused_session_and_for_other_labelers_are_explained(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = start(client, budget=2)
    with client.tuning(session, labeler="bob", credit=2) as bob:
        held = [bob.next_query(timeout_s=20) for _ in range(2)]
        with labelling(stack.address, session) as terminal:
            terminal.expect("all 2 open queries are with others")
            client.pause_session(session)
            terminal.expect("The session is paused")
            client.resume_session(session)
            assert held[0] is not None
            bob.release(held[0])
            assert next_question(terminal) == held[0].observation_id
            client.cancel_session(session)
            assert terminal.wait() == 1
            assert "the session was cancelled" in terminal.screen.text
            assert "[SESSION_CANCELLED]" in terminal.screen.text


def test_no_color_and_dumb_terminals_get_plain_text(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = start(client)
    with labelling(stack.address, session, NO_COLOR="1") as terminal:
        next_question(terminal)
        terminal.press("q")
        assert terminal.wait() == 0
        colours = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d)")
        assert not colours.search(terminal.raw)
    with labelling(stack.address, session, TERM="dumb") as terminal:
        terminal.expect("[q]uit")
        terminal.rest(GUARD_S)
        terminal.press("?")
        terminal.expect("Any key goes back")
        terminal.press("?q")
        assert terminal.wait() == 0
        assert "\x1b" not in terminal.raw


def test_screen_survives_resize_and_stop_of_the_process(
    stack: EmbeddedStack, client: TuningClient
) -> None:
    session = start(client)
    with labelling(stack.address, session) as terminal:
        observation = next_question(terminal)
        terminal.resize(100, 30)
        terminal.expect(lambda window: "─" * 60 in window)
        terminal.stop_and_continue()
        # What is typed before the program has the terminal again is dropped; then it draws anew.
        assert next_question(terminal) == observation
        terminal.press(key_for(observation))
        next_question(terminal, observation)
        wait_until(lambda: votes(client, session) != {})
        terminal.press("q")
        assert terminal.wait() == 0


def test_any_session_is_served_and_named(stack: EmbeddedStack, client: TuningClient) -> None:
    with Terminal("label", "--any", "--server", stack.address, "--labeler", "any-ann") as terminal:
        session = start(client, priority=100)
        name = session.name.removeprefix("sessions/")
        terminal.expect(lambda window: name in window and question(window) != "")
        terminal.press("q")
        assert terminal.wait() == 0
        client.cancel_session(session)
