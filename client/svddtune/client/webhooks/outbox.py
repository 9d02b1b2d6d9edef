"""The folder of a sender: for each session what was announced and what is not delivered yet."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from svddtune.client.errors import InvalidInput
from svddtune.client.webhooks.events import Announced, Event
from svddtune.client.whole_file import whole_file


@dataclass(frozen=True, slots=True)
class Message:
    """An event as it is posted. An attempt that is repeated posts the same bytes."""

    id: str
    body: str


@dataclass(slots=True)
class Outbox:
    """The state of one session: a file that is always whole.

    An event is stored before its first attempt, together with what is announced by it, and removed
    once it is delivered.
    """

    path: Path
    announced: Announced = field(default_factory=Announced)
    pending: list[Message] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path, session: str) -> Outbox:
        """Return the stored state of a session, or that of one never seen.

        Raises
        ------
        InvalidInput
            STATE_INVALID: the file is not one that a sender wrote.
        """
        box = cls(folder / f"{session.removeprefix('sessions/')}.json")
        if not box.path.exists():
            return box
        try:
            stored = json.loads(box.path.read_bytes())
            box.announced = Announced(**stored["announced"])
            box.pending = [Message(**one) for one in stored["pending"]]
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"{box.path} is not the state of a sender: {error}; remove it to announce the "
                f"session anew",
                reason="STATE_INVALID",
                metadata={"file": str(box.path)},
            ) from None
        return box

    def add(self, events: list[Event], announced: Announced) -> None:
        """Store events to deliver."""
        if not events and announced == self.announced:
            return
        self.pending += [Message(event.id, _body(event)) for event in events]
        self.announced = announced
        self._save()

    def delivered(self, message: Message) -> None:
        """Remove the first message, which was delivered or given up."""
        assert self.pending[0] == message
        del self.pending[0]
        self._save()

    def give_up(self, message: Message, why: str) -> None:
        """Append the first message to the file of dead letters, and remove it."""
        letter = {"webhook_id": message.id, "error": why, "body": message.body}
        with (self.path.parent / "dead-letters.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(letter) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.delivered(message)

    def _save(self) -> None:
        content = {
            "announced": asdict(self.announced),
            "pending": [asdict(message) for message in self.pending],
        }
        with whole_file(self.path) as file:
            file.write(json.dumps(content).encode())


def undelivered(folder: Path) -> list[str]:
    """Return the resource names of the sessions with events that are not delivered."""
    names = [f"sessions/{path.stem}" for path in sorted(folder.glob("*.json"))]
    return [name for name in names if Outbox.of(folder, name).pending]


def _body(event: Event) -> str:
    moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"type": event.type, "timestamp": moment, "data": event.data})
