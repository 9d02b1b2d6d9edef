"""Scripts do what their headers declare, and are called as these say."""

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from tests.state.lost_replies import CASES, Case
from tests.state.scene import Scene, play

from svddtune.stack import EmbeddedServer
from svddtune.state import calls, keys
from svddtune.state.scripts import SCRIPTS, Argument, Script, parse

STATE = Path(calls.__file__).parent

# Functions that call scripts, and the arguments that they add. "" is an object that is called at
# once.
ADDED = {
    "": set[str](),
    "_call": set[str](),
    "call": set[str](),
    "_session_call": {"session"},
    "_dataset_call": {"dataset"},
    "_commit": {"claim"},
}


def call_sites() -> Iterator[tuple[str, str, set[str]]]:
    """Of each call of a script: where it stands, the script, and the names of its arguments."""
    for path in STATE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.args[0].value
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in SCRIPTS and called in ADDED:
                    given = {one.arg for one in node.keywords if one.arg}
                    yield f"{path.name}:{node.lineno}", name, given | ADDED[called]


SITES = list(call_sites())


def test_every_script_is_called_somewhere() -> None:
    assert {script for _, script, _ in SITES} == SCRIPTS.keys()


@pytest.mark.parametrize(("place", "name", "names"), SITES)
def test_call_site_gives_the_declared_arguments(place: str, name: str, names: set[str]) -> None:
    assert names == SCRIPTS[name].arguments.keys(), place


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_declared_keys_are_groups_of_keys(script: Script) -> None:
    assert script.keys
    assert script.keys <= keys.PATTERNS.keys()


@pytest.mark.integration
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_scripts_touch_only_declared_keys(redis_url: str, case: Case) -> None:
    names = {hashlib.sha1(one.source.encode()).hexdigest(): one.name for one in SCRIPTS.values()}
    touched: dict[str, set[str]] = defaultdict(set)

    async def act(scene: Scene) -> None:
        async for _ in case(scene):
            pass

    with redis.Redis.from_url(redis_url) as client, client.monitor() as monitor:
        play(redis_url, act)
        client.echo("the case is over")
        running = ""
        for seen in monitor.listen():
            words = seen["command"].split()
            if words[0] == "EVALSHA":
                running = names[words[1]]
            elif seen["client_type"] == "lua":
                touched[running] |= {group for word in words if (group := keys.group_of(word))}
            elif words[0] == "ECHO":
                break
    assert touched
    for name, groups in touched.items():
        assert groups - {"call", "layout"} <= SCRIPTS[name].keys, name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("-- @argument row integer\nreturn args.row", "no tag @argument"),
        ("-- @arg row int\nreturn args.row", "not an argument: 'row int'"),
        ("-- @arg row integer", r"differ: \['row'\]"),
        ("return args.row", r"differ: \['row'\]"),
        ("-- @session\n-- @claim ends", "guard is unclear: session, claim ends"),
        ("-- @claim begins", "guard is unclear: claim begins"),
        ("return 'a -- b'", "text with -- would be cut off"),
        ("return refuse('TOO_LATE')", "refusals not declared: {'TOO_LATE'}"),
    ],
)
def test_header_that_does_not_fit_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse("sample", text)


def test_declarations_that_go_on_in_a_second_line_are_read_whole() -> None:
    script = parse("sample", "-- @reply row integer,\n--   rule text?: what came\nreturn {}")
    assert script.reply == {"row": Argument("integer"), "rule": Argument("text", True)}


SAMPLE = parse(
    "sample",
    "-- @session\n-- @arg priority integer\n-- @reply state text\n"
    "return { state = s.state, priority = args.priority }",
)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({}, "priority must be integer, not None"),
        ({"priority": "1"}, "priority must be integer, not '1'"),
        ({"priority": True}, "priority must be integer, not True"),
        ({"priority": 1.0}, "priority must be integer, not 1.0"),
        ({"priority": 1, "budget": 2}, "has no argument budget"),
    ],
)
def test_arguments_that_are_not_declared_so_are_refused(
    values: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        SAMPLE.pack({"session": "s"} | values)


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ({"state": 1}, "replied 1 as state"),
        ({}, "replied None as state"),
        ({"state": "PAUSED", "budget": 1}, "replied an undeclared budget"),
        ({"error": "TOO_LATE"}, "refused with TOO_LATE"),
    ],
)
def test_replies_that_are_not_declared_so_are_refused(
    reply: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        SAMPLE.unpack(msgpack.packb(reply))


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.integration
@given(items=st.lists(VALUES, max_size=5), raw=st.binary())
def test_arguments_reach_a_script_as_they_were_given(
    redis_server: EmbeddedServer, items: list[Any], raw: bytes
) -> None:
    script = parse(
        "echo",
        "-- @arg items list\n-- @arg raw bytes\n-- @reply items list, hex text\n"
        "return { items = args.items, hex = redis.sha1hex(args.raw) }",
    )
    with redis.Redis.from_url(redis_server.url) as client:
        packed = script.pack({"items": items, "raw": raw})
        reason, reply = script.unpack(
            client.eval(script.source, 1, keys.new_call(keys.prefix(0)), packed)
        )
    assert reason is None
    assert reply == {"items": items, "hex": hashlib.sha1(raw).hexdigest()}
