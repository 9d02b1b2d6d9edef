"""Runs the program of the client under test."""

import asyncio
import json
import os
import signal
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from conformance.fake_server import FakeServer, ServerPlayer
from conformance.frames import Json
from conformance.player import PATIENCE_S
from conformance.script import Outcome, Script

ROOT = Path(__file__).parent.parent
SESSION = "sessions/p00-0123456789abcdef0123"
LABELER = "conformance"
# What scripts and vectors may need that not every client has.
ABILITIES = frozenset({"release", "credit_0", "model"})
_EVENTS = ("acked", "rejected", "finished", "error")


@dataclass(frozen=True)
class Client:
    """The client under test.

    Attributes
    ----------
    argv : sequence of str
        Its program, see README.md.
    folder : Path
        Where it runs.
    abilities : set of str
        Those of `ABILITIES` that it has.
    """

    argv: Sequence[str]
    folder: Path = ROOT
    abilities: frozenset[str] = ABILITIES

    def missing(self, needs: Sequence[str]) -> str:
        """Return why the client cannot do something, empty if it can."""
        lacking = [need for need in needs if need not in self.abilities]
        return f"the client has no {' and no '.join(lacking)}" if lacking else ""

    async def start(self, *arguments: str) -> Process:
        """Start the program in a process group of its own."""
        return await asyncio.create_subprocess_exec(
            *self.argv,
            *arguments,
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )


async def play_to_client(
    client: Client, script: Script, *, patience_s: float = PATIENCE_S
) -> Outcome:
    """Play one script to a client; wait at most `patience_s` for each frame."""
    outcome = Outcome(script.name, script.summary, skipped=client.missing(script.needs))
    if outcome.skipped:
        return outcome
    began = time.monotonic()
    variables = {"$session": SESSION, "$labeler": LABELER}
    async with FakeServer() as server:
        player = ServerPlayer(script, server, variables, patience_s=patience_s)
        process = await client.start("label", server.address, SESSION, LABELER, str(script.credit))
        printing = asyncio.create_task(process.communicate())
        playing = asyncio.create_task(player.play())
        await asyncio.wait({printing, playing}, return_when=asyncio.FIRST_COMPLETED)
        try:
            async with asyncio.timeout(1 if printing.done() else None):
                outcome.failure = await playing
        except TimeoutError:
            outcome.failure = "the program ended before the script did"
        late = await player.finish()
        try:
            async with asyncio.timeout(0.1 if outcome.failure else patience_s):
                out, errors = await asyncio.shield(printing)
        except TimeoutError:
            late = late or await player.finish()
            ending = "the program did not end after the last step"
            outcome.failure = outcome.failure or late or ending
            end(process)
            out, errors = await printing
        late = late or await player.finish()
    outcome.transcript = [
        *player.transcript,
        *(f"printed {line}" for line in out.decode().splitlines()),
        *(f"logged {line}" for line in errors.decode(errors="replace").splitlines()[-20:]),
    ]
    outcome.failure = outcome.failure or late or _wrong_end(process, script, out.decode())
    outcome.seconds = time.monotonic() - began
    return outcome


def end(process: Process) -> None:
    """Kill a program and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _wrong_end(process: Process, script: Script, out: str) -> str:
    if process.returncode != 0:
        return f"the program ended with status {process.returncode}"
    events = []
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            return f"the program printed {line!r}, which is not JSON"
        if event["event"] in _EVENTS:
            events.append(event)
    missing = list(script.events)
    for event in events:
        expected = next((one for one in missing if _is(event, one)), None)
        if expected is None:
            return f"the program printed {json.dumps(event)}; expected: {json.dumps(missing)}"
        missing.remove(expected)
    return f"the program did not print {json.dumps(missing)}" if missing else ""


def _is(event: Mapping[str, Json], expected: Mapping[str, Json]) -> bool:
    """Whether an event is the one expected; the code of an error may be left out."""
    if event.get("event") == "error" and "code" not in event:
        expected = {key: value for key, value in expected.items() if key != "code"}
    return all(value == "$any" or event.get(key) == value for key, value in expected.items())
