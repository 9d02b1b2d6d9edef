"""The Lua scripts: one atomic change of state a file, its contract in the comments on top.

The header of a script says in plain words what it does, then declares what Python checks::

    -- @session                    the call names a session; the body gets it as ``s``
    -- @claim ends                 the caller claims a job; the claim ends, the body gets ``job``
    -- @claim stays                the caller claims a job; the body gets the ``claim``
    -- @etag                       the call may name the version of the session that it is meant for
    -- @by_request                 the caller may give an id, by which it is known for a day
    -- @repeatable                 run twice it has the effect and the reply of one run
    -- @durable                    its effect is promised to the caller: where the service waits for
                                   replicas, the reply does
    -- @keys session, queue        the groups of keys that it may touch: see ``keys.PATTERNS``
    -- @arg name type: meaning     an argument; the body reads it as ``args.name``
    -- @reply name type, ...       what it returns
    -- @refusal REASON name, ...   a reason to refuse, with the values that come with it

Types are those of ``Type``; a ``?`` behind one says that the value may be absent: None in Python,
nil in Lua. A body has its arguments, what its guard gives it, and the functions of ``lib/``.

The reply of a script that is not ``@repeatable`` is kept for a while. A call that is made again,
because its reply was lost, finds it. Repeatable scripts keep receipts of their own, or set what
holds already.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal

import msgpack

# The files of lib/ in this order: each uses those before it.
_LIB = (
    "base", "layout", "usage", "jobs", "votes", "queries", "serving", "atlas", "retention",
    "pictures", "lifecycle", "answers", "failures", "calls",
)  # fmt: skip
_FOLDER = files(__name__)

Type = Literal["text", "bytes", "integer", "number", "flag", "list", "map"]
_PYTHON: dict[Type, frozenset[type]] = {
    "text": frozenset({str}),
    "bytes": frozenset({bytes}),
    "integer": frozenset({int}),
    "number": frozenset({float, int}),
    "flag": frozenset({bool}),
    "list": frozenset({list, tuple}),
    "map": frozenset({dict}),
}

_COMMENT = re.compile(r"--.*")
_WORD = re.compile(r"\w+")
_DEFINED = re.compile(r"local (?:function )?([\w, ]*)")
_TAG = re.compile(r"@(?P<tag>\w+) ?(?P<rest>.*)")
_ARGUMENT = re.compile(rf"(?P<name>\w+) (?P<type>{'|'.join(_PYTHON)})(?P<absent>\?)?(: .+)?")


@dataclass(frozen=True)
class Argument:
    """What a script takes, or gives back, under one name."""

    kind: Type
    may_be_absent: bool = False

    @cached_property
    def takes(self) -> frozenset[type]:
        """The types of Python values that it may have."""
        return _PYTHON[self.kind] | ({type(None)} if self.may_be_absent else set())


@dataclass(frozen=True)
class Script:
    """A script: what its header declares, and its body."""

    name: str
    body: str
    arguments: Mapping[str, Argument]
    reply: Mapping[str, Argument]
    # Reason -> names of the values that come with it.
    refusals: Mapping[str, tuple[str, ...]]
    # Groups of keys.
    keys: frozenset[str]
    # "session", "claim ends", "claim stays" or "".
    guard: str
    repeatable: bool
    # Whether the version of its session is compared, and whether callers give it ids.
    has_etag: bool
    by_request: bool
    # Whether its effect is promised to the caller.
    durable: bool

    def pack(self, values: Mapping[str, object]) -> bytes:
        """Arguments as the script reads them.

        Raises
        ------
        TypeError
            An argument is missing, unknown or of another type than the header says.
        """
        if unknown := values.keys() - self.arguments.keys():
            raise TypeError(f"script {self.name} has no argument {', '.join(sorted(unknown))}")
        for name, argument in self.arguments.items():
            if type(values.get(name)) not in argument.takes:
                raise TypeError(
                    f"script {self.name}: {name} must be {argument.kind}, not {values.get(name)!r}"
                )
        given = {name: value for name, value in values.items() if value is not None}
        # (Redis's cmsgpack knows one type for text and bytes, the older one.)
        return bytes(msgpack.packb(given, use_bin_type=False))

    def unpack(self, packed: bytes) -> tuple[str | None, dict[str, Any]]:
        """The reason of a refusal, or None, and what the script replied.

        Raises
        ------
        TypeError
            The reply is not what the header says.
        """
        # (Nothing is packed as an empty list.)
        reply: dict[str, Any] = msgpack.unpackb(packed) or {}
        reason: str | None = reply.pop("error", None)
        if reason is None:
            for name, declared in self.reply.items():
                if type(reply.get(name)) not in declared.takes:
                    raise TypeError(f"script {self.name} replied {reply.get(name)!r} as {name}")
            known = self.reply.keys()
        elif reason in self.refusals:
            known = dict.fromkeys(self.refusals[reason]).keys()
        else:
            raise TypeError(f"script {self.name} refused with {reason}, which it does not declare")
        if undeclared := reply.keys() - known:
            raise TypeError(f"script {self.name} replied an undeclared {', '.join(undeclared)}")
        return reason, reply

    @cached_property
    def source(self) -> str:
        """What Redis runs: the shared part, then the body behind its guard."""
        parameter, guarded = {
            "": ("", "run"),
            "session": (
                "s",
                "with_session(unchanged(run))" if self.has_etag else "with_session(run)",
            ),
            "claim ends": ("job", "ending_claim(run)"),
            "claim stays": ("claim", "keeping_claim(run)"),
        }[self.guard]
        how = "each_time" if self.repeatable else "once"
        how = "once_by_request" if self.by_request else how
        body = _COMMENT.sub("", self.body)
        code = f"local function run({parameter})\n{body}\nend\nreturn {how}({guarded})"
        return _with_lib(code)


@cache
def _lib() -> list[str]:
    """The definitions of lib/ in order, without comments."""
    text = "\n".join(_FOLDER.joinpath(f"lib/{part}.lua").read_text() for part in _LIB)
    return re.split(r"^(?=local )", _COMMENT.sub("", text), flags=re.MULTILINE)


def _with_lib(code: str) -> str:
    """Code behind the definitions that it uses: Redis makes all of them anew at every call."""
    needed, used = [code], set(_WORD.findall(code))
    for definition in reversed(_lib()):
        defined = _DEFINED.match(definition)
        if defined and used & set(_WORD.findall(defined[1])):
            needed.append(definition)
            used |= set(_WORD.findall(definition))
    return "".join(reversed(needed))


def _declarations(header: list[str]) -> Iterator[tuple[str, str]]:
    """Tags with what stands behind them, lines that go on included."""
    found: list[str] = []
    for line in header:
        text = line.removeprefix("--").removeprefix(" ")
        if text.startswith("@") or not found:
            found.append(text)
        else:
            found[-1] += " " + text.strip()
    for text in found:
        if match := _TAG.fullmatch(text):
            yield match["tag"], match["rest"]


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in re.split(r",\s*", text) if name)


def parse(name: str, text: str) -> Script:
    """Read a script.

    Raises
    ------
    ValueError
        Its header breaks the grammar, or its body uses other arguments or refuses for other
        reasons than the header declares.
    """
    lines = text.splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    arguments: dict[str, Argument] = {}
    reply: dict[str, Argument] = {}
    refusals: dict[str, tuple[str, ...]] = {}
    key_groups: list[str] = []
    guards: list[str] = []
    repeatable = has_etag = by_request = durable = False
    for tag, rest in _declarations(lines[:end]):
        match tag:
            case "session":
                guards.append("session")
                arguments["session"] = Argument("text")
                refusals["SESSION_NOT_FOUND"] = ()
            case "claim":
                guards.append(f"claim {rest}")
                arguments["claim"] = Argument("map")
                refusals["CLAIM_LOST"] = ()
            case "repeatable":
                repeatable = True
            case "durable":
                durable = True
            case "etag":
                has_etag = True
                arguments["etag"] = Argument("text", may_be_absent=True)
                refusals["ETAG_MISMATCH"] = ("current",)
            case "by_request":
                by_request = True
                arguments["request_id"] = Argument("text", may_be_absent=True)
                refusals["REQUEST_ID_REUSED"] = ()
            case "keys":
                key_groups += _names(rest)
            case "arg":
                arguments.update([_argument(name, rest)])
            case "reply":
                reply.update(_argument(name, one) for one in _names(rest.partition(":")[0]))
            case "refusal":
                reason, _, values = rest.partition(" ")
                refusals[reason] = _names(values)
            case _:
                raise ValueError(f"script {name}: there is no tag @{tag}")
    if len(guards) > 1 or set(guards) - {"session", "claim ends", "claim stays"}:
        raise ValueError(f"script {name}: its guard is unclear: {', '.join(guards)}")
    body = "\n".join(lines[end:])
    _check_body(name, body, arguments, refusals)
    return Script(
        name=name,
        body=body,
        arguments=arguments,
        reply=reply,
        refusals=refusals,
        keys=frozenset(key_groups),
        guard="".join(guards),
        repeatable=repeatable,
        has_etag=has_etag,
        by_request=by_request,
        durable=durable,
    )


def _argument(script: str, text: str) -> tuple[str, Argument]:
    match = _ARGUMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"script {script}: not an argument: {text!r}")
    kind = next(one for one in _PYTHON if one == match["type"])
    return match["name"], Argument(kind, may_be_absent=bool(match["absent"]))


def _check_body(
    name: str, body: str, arguments: Mapping[str, Argument], refusals: Mapping[str, object]
) -> None:
    for line in body.splitlines():
        before, dashes, _ = line.partition("--")
        if dashes and (before.count("'") % 2 or before.count('"') % 2):
            raise ValueError(f"script {name}: a text with -- would be cut off there: {line}")
    code = _COMMENT.sub("", body)
    used = set(re.findall(r"\bargs\.(\w+)", code))
    # A guard reads these.
    declared = arguments.keys() - ({"session", "claim", "etag", "request_id"} - used)
    if used != declared:
        raise ValueError(
            f"script {name}: declared and used arguments differ: {sorted(used ^ declared)}"
        )
    given = {
        reason
        for call in re.findall(r"\brefuse\(([^{)]*)", code)
        for reason in re.findall(r"'([A-Z_]+)'", call)
    }
    if given - refusals.keys():
        raise ValueError(f"script {name}: refusals not declared: {given - refusals.keys()}")


def _read_all() -> dict[str, Script]:
    named = sorted(path.name for path in _FOLDER.iterdir() if path.name.endswith(".lua"))
    return {
        name.removesuffix(".lua"): parse(
            name.removesuffix(".lua"), _FOLDER.joinpath(name).read_text()
        )
        for name in named
    }


# All scripts by name.
SCRIPTS = _read_all()
