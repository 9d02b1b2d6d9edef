"""The file that keeps messages and clicks between runs."""

from __future__ import annotations

import json
import os
import time
import uuid
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from svddtune import Query


class State(StrEnum):
    """State of a message."""

    ASKED = "asked"
    """An analyst may click."""
    CLICKED = "clicked"
    """An analyst has; the service has not said yet that it is stored."""
    ANSWERED = "answered"
    PASSED_ON = "passed on"
    """The analyst skipped it."""
    GONE = "gone"
    """Nobody needs the answer any more."""


@dataclass(slots=True)
class Message:
    """One question to one analyst. `chat_id` is empty until the chat has it."""

    session: str
    number: int
    observation_id: str
    lease_id: str
    lease_until: float
    analyst: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    chat_id: str = ""
    state: State = State.ASKED
    choice: str = ""

    @property
    def live(self) -> bool:
        """Whether the message may still lead to an answer."""
        return self.state in (State.ASKED, State.CLICKED)

    def query(self) -> Query:
        """Return the arguments of the service for an answer."""
        return Query(
            number=self.number,
            observation_id=self.observation_id,
            row=0,
            features=np.empty(0),
            display={},
            why="",
            score=0.0,
            lease_id=self.lease_id,
            lease_expires=None,
            session=self.session,
        )


class Ledger:
    """All messages, and the resume token with which the next run continues their queries."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.resume_token = ""
        self.messages: dict[str, Message] = {}
        if path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            self.resume_token = stored["resume_token"]
            for values in stored["messages"]:
                message = Message(**{**values, "state": State(values["state"])})
                self.messages[message.id] = message

    def live(self) -> list[Message]:
        """Return the messages that may still lead to an answer."""
        return [message for message in self.messages.values() if message.live]

    def asked_about(self, query: Query) -> set[str]:
        """Return the analysts who were asked about a query."""
        key = (query.session, query.number)
        return {one.analyst for one in self.messages.values() if (one.session, one.number) == key}

    def ask(self, query: Query, analyst: str) -> Message:
        """Record a query to an analyst."""
        message = Message(
            session=query.session,
            number=query.number,
            observation_id=query.observation_id,
            lease_id=query.lease_id,
            lease_until=_moment(query),
            analyst=analyst,
        )
        self.messages[message.id] = message
        self._save()
        return message

    def posted(self, message: Message, chat_id: str) -> None:
        """Record that the chat has a message."""
        message.chat_id = chat_id
        self._save()

    def lease(self, message: Message, query: Query) -> None:
        """Record the current lease of a message's query."""
        message.lease_id, message.lease_until = query.lease_id, _moment(query)
        self._save()

    def set(self, message: Message, state: State, choice: str = "") -> None:
        """Record the state of a message."""
        message.state, message.choice = state, choice or message.choice
        self._save()

    def keep_token(self, resume_token: str) -> None:
        """Record the token with which the next run resumes the queries of this one."""
        if resume_token != self.resume_token:
            self.resume_token = resume_token
            self._save()

    def _save(self) -> None:
        """Write the file, completely or not at all."""
        content = {
            "resume_token": self.resume_token,
            "messages": [asdict(message) for message in self.messages.values()],
        }
        beside = self._path.with_suffix(".new")
        with beside.open("w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)


def _moment(query: Query) -> float:
    """Return when a query's lease ends, in seconds since the epoch."""
    return query.lease_expires.timestamp() if query.lease_expires else time.time()
