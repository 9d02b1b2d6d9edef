"""Plays the steps that the fake server and the driver have in common."""

import asyncio
import json
import time
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import status_pb2

from conformance.frames import DOMAIN, Json, fill, match, short_of, to_json
from conformance.script import Failure, Script

# How long a frame, or a stream, may take, in seconds. Clients wait up to five between streams.
PATIENCE_S = 20.0


@dataclass(frozen=True)
class Ended:
    """The other side ended its part of the stream; the status is None unless it has sent one."""

    status: status_pb2.Status | None = None


@dataclass
class Stream(ABC):
    """One stream, as the suite sees it."""

    label: str
    inbox: asyncio.Queue[bytes | Ended] = field(default_factory=asyncio.Queue)

    @abstractmethod
    async def send(self, frame: bytes) -> None:
        """Send a frame."""


Step: TypeAlias = Mapping[str, Json]


class Player(ABC):
    """Plays one script.

    Parameters
    ----------
    script : Script
        The script.
    variables : mapping
        The variables known from the start.
    sends, hears : type of message
        What this side sends, and what it receives.
    patience_s : float
        How long to wait for a frame, or a stream, in seconds.

    Attributes
    ----------
    transcript : list of str
        The frames so far.
    """

    def __init__(
        self,
        script: Script,
        variables: Mapping[str, Json],
        *,
        sends: type[Message],
        hears: type[Message],
        patience_s: float,
    ) -> None:
        self.patience_s = patience_s
        self.transcript: list[str] = []
        self.variables = dict(variables)
        self._script = script
        self._sends = sends
        self._hears = hears
        self._allowed: list[Json] = []
        self._kept: dict[str, dict[str, Json]] = {}

    async def play(self) -> str:
        """Play the script; return what was wrong, empty if nothing was."""
        for number, step in enumerate(self._script.steps, 1):
            action = next(iter(step))
            played: Callable[[Json, Step], Awaitable[None]] = getattr(self, f"step_{action}")
            try:
                await played(step[action], step)
            except Failure as failure:
                return f"step {number}, {json.dumps(step)}: {failure}"
        return ""

    @abstractmethod
    def stream(self, step: Step) -> Stream:
        """Return the stream that a step is about."""

    @abstractmethod
    async def overhear(self, stream: Stream, frame: dict[str, Json]) -> bool:
        """Deal with a frame that no step expects; return False if it is wrong."""

    def filled(self, template: dict[str, Json]) -> dict[str, Json]:
        """Return a frame to be sent, with its variables and what the template leaves out."""
        filled: dict[str, Json] = fill(template, self.variables)
        return filled

    # Steps

    async def step_send(self, template: Json, step: Step) -> None:
        """Send a frame."""
        await self.send(self.stream(step), self.filled(template))

    async def step_raw(self, encoded: str, step: Step) -> None:
        """Send the bytes of a frame."""
        stream = self.stream(step)
        self.note(stream, "sent", {"raw": encoded})
        await stream.send(b64decode(encoded))

    async def step_allow(self, patterns: list[Json], step: Step) -> None:
        """Pass over such frames from here on."""
        self._allowed = patterns

    async def step_expect(self, patterns: Json, step: Step) -> None:
        """Receive a frame, or several in any order."""
        stream = self.stream(step)
        waiting = list(patterns) if isinstance(patterns, list) else [patterns]
        deadline = time.monotonic() + step.get("within_seconds", self.patience_s)
        kept: dict[int, dict[str, Json]] = {}
        open_ = dict(enumerate(waiting))
        while open_:
            frame = await self.hear(stream, deadline, list(open_.values()))
            for index, pattern in open_.items():
                captured = match(pattern, frame, self.variables)
                if captured is not None:
                    self.variables |= captured
                    kept[index] = frame
                    del open_[index]
                    break
            else:
                await self.unexpected(stream, frame, list(open_.values()))
        self._check_different(step.get("differ", []))
        for frame in kept.values():
            _check_reason(frame, step.get("reason", ""))
        for index, frame in kept.items():
            self._kept[f"{step.get('as', '')}{index or ''}"] = frame

    async def step_expect_nothing(self, seconds: float, step: Step) -> None:
        """Receive no frame for a while, except those that may come at any time."""
        stream = self.stream(step)
        deadline = time.monotonic() + seconds
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                async with asyncio.timeout(left_s):
                    received = await stream.inbox.get()
            except TimeoutError:
                return
            if isinstance(received, Ended):
                raise Failure(f"the stream ended{_shown(received)}")
            await self.unexpected(stream, self._read(stream, received), "nothing")

    # What steps are made of

    def _check_different(self, names: Sequence[str]) -> None:
        if len({self.variables[name] for name in names}) < len(names):
            raise Failure(f"{' and '.join(names)} are the same")

    def _read(self, stream: Stream, received: bytes) -> dict[str, Json]:
        frame = to_json(self._hears.FromString(received))
        self.note(stream, "heard", frame)
        return frame

    async def send(self, stream: Stream, frame: dict[str, Json]) -> None:
        """Send a frame now."""
        message = json_format.ParseDict(frame, self._sends())
        self.note(stream, "sent", frame)
        await stream.send(message.SerializeToString())

    async def hear(
        self, stream: Stream, deadline: float, patterns: Sequence[Json]
    ) -> dict[str, Json]:
        """Return the next frame of a stream; fail if there is none."""
        frame = await self.next(stream, deadline, patterns)
        if isinstance(frame, Ended):
            raise Failure(f"the stream ended{_shown(frame)} before {json.dumps(patterns)}")
        return frame

    async def next(self, stream: Stream, deadline: float, awaited: Json) -> dict[str, Json] | Ended:
        """Return the next frame of a stream, or its end."""
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                received = await stream.inbox.get()
        except TimeoutError:
            raise Failure(f"nothing came in time; awaited was {json.dumps(awaited)}") from None
        if isinstance(received, Ended):
            self.transcript.append(f"{stream.label} heard the end{_shown(received)}")
            return received
        return self._read(stream, received)

    async def unexpected(self, stream: Stream, frame: dict[str, Json], awaited: Json) -> None:
        """Pass over a frame that may come at any time; fail at any other."""
        if any(match(pattern, frame, self.variables) is not None for pattern in self._allowed):
            return
        if not await self.overhear(stream, frame):
            raise Failure(f"got {json.dumps(brief(frame))}")

    def kept(self, step: Step) -> dict[str, Json]:
        """Return the frame that a step answers: by default the one expected last."""
        return self._kept[step.get("of", "")]

    def note(self, stream: Stream, verb: str, frame: Json) -> None:
        """Write a frame into the transcript."""
        self.transcript.append(f"{stream.label} {verb} {json.dumps(brief(frame))}")


def brief(value: Json) -> Json:
    """Return a frame without the fields that hold their default."""
    if isinstance(value, dict):
        return {
            key: brief(part)
            for key, part in value.items()
            if part not in (None, "", 0, [], False) and not str(part).endswith("_UNSPECIFIED")
        }
    return [brief(part) for part in value] if isinstance(value, list) else value


def _check_reason(frame: dict[str, Json], reason: str) -> None:
    """Fail if a Reject has another reason than the one expected."""
    if reason:
        status = json_format.ParseDict(frame["reject"]["status"], status_pb2.Status())
        given = short_of(status)
        if (given["reason"], given["domain"]) != (reason, DOMAIN):
            raise Failure(f"the reason is {given['reason']} of {given['domain']}")


def _shown(ended: Ended) -> str:
    if ended.status is None:
        return ""
    return f" with {json_format.MessageToJson(ended.status, indent=None)}"
