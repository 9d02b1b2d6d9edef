"""The alert router in a process of its own, with a chat and analysts who click."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from alert_router.links import Links
from tests.client.scene import blob
from tests.e2e.processes import service, worker
from tests.examples.chat import FakeChat, Posted, fake_chat
from tests.examples.conftest import EXAMPLES
from tests.waiting import wait_until

from svddtune.client import EmbeddedStack, Session, SessionState, TuningClient

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

X, Y = blob(60)
SECRET = "a secret of the test, long enough"


@pytest.fixture
def chat() -> Iterator[FakeChat]:
    with fake_chat() as running:
        yield running


class RouterProcess:
    """The router, which can be ended and started again on the same state."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self._folder = folder
        self._arguments = arguments
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the router and wait until it accepts clicks."""
        command = [sys.executable, "-m", "alert_router", "--listen", self.address]
        self._process = subprocess.Popen(
            [*command, "--state", str(self._folder / "state.json"), *self._arguments],
            cwd=EXAMPLES,
            env={**os.environ, "ALERT_ROUTER_SECRET": SECRET},
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(self._takes_clicks, timeout_s=30)

    def end(self, number: signal.Signals) -> str:
        """Send a signal, wait for the end, and return the output."""
        assert self._process is not None
        self._process.send_signal(number)
        _, said = self._process.communicate(timeout=20)
        self.exit_code, self._process = self._process.returncode, None
        return said

    @property
    def runs(self) -> bool:
        """Whether the router runs."""
        return self._process is not None

    def _takes_clicks(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._process.communicate()
        try:
            return httpx.get(f"http://{self.address}/health").is_success
        except httpx.TransportError:
            return False


@contextmanager
def routing(
    folder: Path, server: str, session: Session, chat: FakeChat, *analysts: str
) -> Iterator[RouterProcess]:
    names = [word for name in analysts or ("ann",) for word in ("--analyst", name)]
    router = RouterProcess(
        folder,
        *("--server", server, "--session", session.name, "--chat", chat.url, "--patience", "2"),
        *names,
    )
    router.start()
    try:
        yield router
    finally:
        if router.runs:
            said = router.end(signal.SIGTERM)
            assert router.exit_code == 0, said
            assert "Traceback" not in said


def session_of(client: TuningClient, **knobs: object) -> Session:
    # Without the atlas, which takes most of the time of a small session.
    defaults: dict[str, object] = {"budget": 6, "strategy": "lama"}
    return client.create_session(client.upload_dataset(X), **defaults | knobs)  # type: ignore[arg-type]


def truth(message: Posted) -> str:
    """The click of an analyst who knows the truth."""
    row = int(message.text.split()[1])
    return "inlier" if Y[row] > 0 else "outlier"


def outcome(message: Posted) -> str:
    """Wait for the message's final text."""
    wait_until(lambda: bool(message.edits), timeout_s=30)
    return message.edits[-1].partition(": ")[2]


def test_session_is_completed_by_clicks(
    stack: EmbeddedStack, client: TuningClient, chat: FakeChat, tmp_path: Path
) -> None:
    session = session_of(client)
    with routing(tmp_path, stack.address, session, chat, "ann", "bob"):
        answered = 0
        while client.get_session(session).state is not SessionState.COMPLETED:
            for message in chat.messages[answered:]:
                choice = truth(message)
                page = httpx.get(message.links[choice])
                assert f"Your answer: {choice}." in page.text
                assert not message.edits, "a GET has no effect"
                page = httpx.post(message.links[choice])
                assert (page.status_code, f"Thank you: {choice}." in page.text) == (200, True)
                answered += 1
    log = list(client.labels(session))
    assert len(log) == 6
    assert {event.observation_id for event in log} == {m.text.split()[1] for m in chat.messages[:6]}
    assert {event.source_reference.split("/")[0] for event in log} == {"ann", "bob"}
    assert [outcome(message) for message in chat.messages] == [
        f"{truth(message)}." for message in chat.messages[:6]
    ] + ["no longer needed."] * (len(chat.messages) - 6)
    assert all(not message.links for message in chat.messages)


def test_double_click_has_one_effect(
    stack: EmbeddedStack, client: TuningClient, chat: FakeChat, tmp_path: Path
) -> None:
    session = session_of(client)
    with (
        routing(tmp_path, stack.address, session, chat),
        ThreadPoolExecutor(4) as fingers,
    ):
        links = dict(chat.wait_for(0).links)
        pages = list(fingers.map(httpx.post, [links["outlier"]] * 4))
        assert {page.status_code for page in pages} == {200}
        other = httpx.post(links["inlier"])
        assert other.status_code == 409
        assert "answered already: outlier" in other.text
        chat.wait_for(1)
        assert [event.verdict for event in client.labels(session)] == ["outlier"]


def test_forged_or_unknown_link_gets_explanatory_page(
    stack: EmbeddedStack, client: TuningClient, chat: FakeChat, tmp_path: Path
) -> None:
    session = session_of(client)
    with routing(tmp_path, stack.address, session, chat) as router:
        link = chat.wait_for(0).links["outlier"]
        of_others = Links(f"http://{router.address}", "another secret, long enough").of("m")
        forged = [link[:-1], link + "x", link.replace("/click/", "/click/é"), of_others["inlier"]]
        for address in forged:
            for page in (httpx.get(address), httpx.post(address)):
                assert page.status_code == 403
                assert "not made here" in page.text
        unknown = Links(f"http://{router.address}", SECRET).of("nobody's")["skip"]
        page = httpx.post(unknown)
        assert (page.status_code, "not known here" in page.text) == (404, True)
        assert list(client.labels(session)) == []


def test_unanswered_question_is_withdrawn_after_its_lease(
    stack: EmbeddedStack, client: TuningClient, chat: FakeChat, tmp_path: Path
) -> None:
    session = session_of(client, lease_seconds=1.0)
    with routing(tmp_path, stack.address, session, chat):
        message = chat.wait_for(0)
        link = message.links["inlier"]
        assert outcome(message) == "no longer needed."
        page = httpx.post(link)
        assert (page.status_code, "no longer needed" in page.text) == (410, True)
        with client.tuning(session, labeler="colleague") as tuning:
            query = tuning.next_query(timeout_s=30)
            assert query is not None
            # A slow machine may have let further questions run out.
            assert query.observation_id in {posted.text.split()[1] for posted in chat.messages}
        assert list(client.labels(session)) == []


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_restart_asks_nothing_twice(
    stack: EmbeddedStack,
    client: TuningClient,
    chat: FakeChat,
    tmp_path: Path,
    number: signal.Signals,
) -> None:
    session = session_of(client)
    with routing(tmp_path, stack.address, session, chat, "ann", "bob") as router:
        first, second = chat.wait_for(0), chat.wait_for(1)
        router.end(number)
        router.start()
        assert httpx.post(first.links["inlier"]).status_code == 200
        chat.wait_for(2)
        assert httpx.post(second.links["outlier"]).status_code == 200
        chat.wait_for(3)
        asked = [message.text.split()[1] for message in chat.messages]
        assert len(set(asked)) == len(asked)
        assert [event.observation_id for event in client.labels(session)] == asked[:2]


def test_skipped_question_goes_to_the_next_analyst_and_then_to_other_labelers(
    stack: EmbeddedStack, client: TuningClient, chat: FakeChat, tmp_path: Path
) -> None:
    session = session_of(client, lease_seconds=600.0)
    with routing(tmp_path, stack.address, session, chat, "ann", "bob"):
        first, second = chat.wait_for(0), chat.wait_for(1)
        assert {first.to, second.to} == {"ann", "bob"}
        page = httpx.post(first.links["skip"])
        assert "somebody else" in page.text
        again = chat.wait_for(2)
        assert (again.text.split()[1], again.to) == (first.text.split()[1], second.to)
        assert outcome(first) == f"passed on to {second.to}."
        assert httpx.post(again.links["skip"]).status_code == 200
        assert outcome(again) == "skip."
        with client.tuning(session, labeler="colleague", credit=10) as tuning:
            offered = tuning.next_query(timeout_s=30)
            assert offered is not None
            assert offered.observation_id == first.text.split()[1]


def test_message_is_sent_later_if_chat_is_down(
    stack: EmbeddedStack, client: TuningClient, chat: FakeChat, tmp_path: Path
) -> None:
    session = session_of(client)
    chat.down = True
    with routing(tmp_path, stack.address, session, chat):
        wait_until(lambda: chat.refused > 1, timeout_s=30)
        chat.down = False
        assert httpx.post(chat.wait_for(0).links["inlier"]).status_code == 200


@pytest.mark.slow
def test_click_during_service_outage_is_sent_later(
    redis_url: str, chat: FakeChat, tmp_path: Path
) -> None:
    front = service(redis_url)
    address = str(front.ready["address"])
    with worker(redis_url):
        with TuningClient(address) as client:
            session = session_of(client)
        with routing(tmp_path, address, session, chat):
            message = chat.wait_for(0)
            front.kill()
            page = httpx.post(message.links["outlier"], timeout=20)
            assert (page.status_code, "Noted: outlier" in page.text) == (202, True)
            with service(redis_url, address), TuningClient(address) as client:
                assert outcome(message) == "outlier."
                assert [event.verdict for event in client.labels(session)] == ["outlier"]


@pytest.mark.parametrize(
    ("arguments", "secret", "says"),
    [
        (["--analyst", "ann", "--chat", "http://c"], "short", "ALERT_ROUTER_SECRET"),
        (["--analyst", "ann", "--chat", "http://c", "--listen", "here"], SECRET, "HOST:PORT"),
        (["--chat", "http://c"], SECRET, "--analyst"),
    ],
)
def test_wrong_arguments_or_settings_are_named(
    arguments: list[str], secret: str, says: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "alert_router", *arguments],
        cwd=EXAMPLES,
        env={**os.environ, "ALERT_ROUTER_SECRET": secret},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert says in done.stderr


def test_unknown_session_ends_router_with_one_line(stack: EmbeddedStack, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *[sys.executable, "-m", "alert_router", "--server", stack.address, "--session", "none"],
            *["--analyst", "ann", "--chat", "http://127.0.0.1:1", "--listen", "127.0.0.1:0"],
            *["--state", str(tmp_path / "state.json")],
        ],
        cwd=EXAMPLES,
        env={**os.environ, "ALERT_ROUTER_SECRET": SECRET},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("alert_router: ")
    assert "Traceback" not in done.stderr
