"""The client of the chat. Change this file for another chat.

It uses two requests that every chat has in some form:

    POST  {chat}/messages        {"to", "text", "links": {name: address}} -> {"id"}
    PATCH {chat}/messages/{id}   {"text", "links": {}}

A POST has an ``Idempotency-Key``, so a message that is posted again after a crash appears once.
"""

from __future__ import annotations

import httpx

from alert_router.ledger import Message
from svddtune import Query


class Chat:
    """Posts and edits messages. Errors are those of httpx."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url.rstrip("/")

    async def post(self, message: Message, text: str, links: dict[str, str]) -> str:
        """Post a message; return its id."""
        response = await self._http.post(
            f"{self._url}/messages",
            json={"to": message.analyst, "text": text, "links": links},
            headers={"Idempotency-Key": message.id},
        )
        response.raise_for_status()
        return str(response.json()["id"])

    async def edit(self, chat_id: str, text: str) -> None:
        """Replace a message's text and remove its links."""
        response = await self._http.patch(
            f"{self._url}/messages/{chat_id}", json={"text": text, "links": {}}
        )
        response.raise_for_status()


def wording(query: Query) -> str:
    """Return the text of the message about a query."""
    lines = [f"Alert {query.observation_id} (query {query.number}): inlier or outlier?"]
    lines += [f"{key}: {value}" for key, value in query.display.items()]
    for one in query.unusual:
        name = one.name or f"column {one.column}"
        lines.append(
            f"unusual: {name} = {one.value:.4g}, typically {one.typical:.4g} "
            f"({one.deviation:+.1f} deviations)"
        )
    for near in query.nearby:
        lines.append(f"near it: {near.observation_id}, {near.verdict or 'not known'}")
    if query.why:
        lines.append(f"why: {query.why}")
    return "\n".join(lines)
