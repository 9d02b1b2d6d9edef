"""The content of a Redis server as text that is equal for two runs of the same acts."""

import json
import re
from typing import Any

from svddtune.state.connect import Redis

# What differs from run to run: random names, times and durations.
_VARYING = (
    (r"p\d\d-[0-9a-f]{20}", "SESSION"),
    (r"[0-9a-f]{16}-(?=\d+)", "LEASE-"),
    (r"\b(?:[0-9a-f]{32}|[0-9a-f]{16})\b", "NAME"),
    (r"\b\d{13,15}(?:-\d+)?\b", "MOMENT"),
    # In a waiting job, MessagePack has the length of the text before it.
    (r"(since\\+u00ad)\d{13}", r"\1MOMENT"),
    (r"(\\*\"(?:ms|expires_in_ms|mean|deviation)\\*\": ?\\*\"?)[\d.]+", r"\1TOOK"),
)


def normalised(text: str) -> str:
    """The text with everything masked that differs from run to run."""
    for pattern, name in _VARYING:
        text = re.sub(pattern, name, text)
    return text


# Kept replies of calls, probes for writes, and times of workers that owners have used.
_LEFT_OUT = re.compile(rb".*:(call:.*|proof|q:(hi|bulk):(clock|service))")


def dump(client: Redis) -> dict[str, Any]:
    """Map each key to its content and whether it expires."""
    found = {}
    for key in sorted(client.scan_iter(count=1000)):
        if _LEFT_OUT.fullmatch(key):
            continue
        content = _content(client, key)
        text = json.dumps([content, client.ttl(key) >= 0])
        name = normalised(key.decode())
        assert name not in found
        found[name] = normalised(text)
    return found


def _content(client: Redis, key: bytes) -> Any:
    kind = client.type(key)
    if kind == b"hash":
        return sorted([_text(field), _text(value)] for field, value in client.hgetall(key).items())
    if kind == b"set":
        return sorted(map(_text, client.smembers(key)))
    if kind == b"list":
        return list(map(_text, client.lrange(key, 0, -1)))
    if kind == b"zset":
        members = client.zrange(key, 0, -1, withscores=True)
        # Lease ids of the same time are ordered by their random part.
        return sorted(
            [normalised(_text(one)), "TOOK" if key.endswith(b":turn") else score]
            for one, score in members
        )
    if kind == b"stream":
        return [_entries(client, key), _claims(client, key)]
    return _text(client.get(key))


def _entries(client: Redis, key: bytes) -> list[Any]:
    return [
        {_text(field): _text(value) for field, value in fields.items()}
        for _, fields in client.xrange(key)
    ]


def _claims(client: Redis, key: bytes) -> list[Any]:
    return [
        [_text(one["consumer"]), one["times_delivered"], one["time_since_delivered"] > 30_000]
        for group in client.xinfo_groups(key)
        for one in client.xpending_range(key, group["name"], "-", "+", 100)
    ]


def _text(value: bytes) -> str:
    text = value.decode("latin-1")
    try:
        # Lua writes the members of a JSON object in any order.
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:
        return text
