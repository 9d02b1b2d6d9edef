"""The labelers' programs, what they sent, and what was acknowledged."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Journal:
    """What labelers told, in the order in which it arrived."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        # Answer id -> what was sent, with its labeler.
        self.sent: dict[str, dict[str, Any]] = {}
        # Answer id -> the Ack.
        self.acked: dict[str, dict[str, Any]] = {}
        # Labeler -> the reason why it ended; empty where nothing more was asked.
        self.ended: dict[str, str] = {}
        self.messages: list[str] = []

    def begin(self) -> None:
        """Forget the last session."""
        with self._changed:
            self.sent, self.acked, self.ended, self.messages = {}, {}, {}, []

    def take(self, labeler: str, told: dict[str, Any]) -> None:
        """Note what a labeler told."""
        with self._changed:
            if "sent" in told:
                self.sent[told["sent"]] = told | {"labeler": labeler}
            elif "acked" in told:
                self.acked[told["acked"]] = told
            elif "ended" in told:
                self.ended[labeler] = told["reason"]
                self.messages.append(str(told.get("message", "")))
            self._changed.notify_all()

    @property
    def labels(self) -> int:
        """Acknowledged labels."""
        return sum(self.sent[one]["act"] == "labeled" for one in self.acked)

    def wait_for(self, condition: Callable[["Journal"], bool], timeout_s: float, what: str) -> None:
        """Return once the condition holds. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self), timeout_s):
                raise TimeoutError(
                    f"{what} not within {timeout_s:g} s: {self.labels} labels, "
                    f"ended: {self.ended or 'nobody'}"
                )


class LabelerProgram:
    """A labeler's program, which can be killed and started again."""

    def __init__(self, name: str, address: str, journal: Journal, log: Path) -> None:
        self.name, self._address, self._journal, self._log = name, address, journal, log
        self._task: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.labeler", self._address, self.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self._reader.start()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            # A killed program may leave half a line.
            if line.endswith("\n"):
                self._journal.take(self.name, json.loads(line))

    def begin(self, task: dict[str, Any]) -> None:
        """Give it a session."""
        self._task = task
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def kill_and_start(self, away_s: float) -> None:
        """Kill it, and start it again on the same session."""
        self._kill()
        time.sleep(away_s)
        self._start()
        self.begin(self._task)

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=10)
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def close(self) -> None:
        """End it."""
        self._kill()
