"""The ``google.api.http`` rules of the methods: from an HTTP request to a method and its request.

A rule has a verb, a template of the path (``/v1/{name=sessions/*}:pause``) and says what the body
holds: the whole request (``*``), one field of it, or nothing. Fields that are in neither path nor
body are parameters of the query. JSON is that of protobuf: numbers of 64 bits may be texts, enums
are names, times are RFC 3339.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

from google.api import annotations_pb2, http_pb2
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from svddtune.state.errors import InvalidInput

_VERBS = ("get", "post", "put", "patch", "delete")
_VARIABLE = re.compile(r"\{([\w.]+)(?:=([^}]*))?\}")
# A segment of a path. A colon before the end begins the name of a custom method; within a segment
# it is written %3A.
_SEGMENT = "[^/:]+"
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to call a method."""

    method: MethodDescriptor
    verb: str
    template: str
    # "*", the name of a field, or "".
    body: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields in the path, as dotted names, in order."""
        return tuple(name for name, _ in _VARIABLE.findall(self.template))

    @property
    def pattern(self) -> re.Pattern[str]:
        """What paths look like, percent-encoded as they come, with a group for each field."""
        pieces, end = [], 0
        for found in _VARIABLE.finditer(self.template):
            pieces.append(re.escape(self.template[end : found.start()]))
            inner = re.escape(found[2] or "*")
            inner = inner.replace(r"\*\*", f"{_SEGMENT}(?:/{_SEGMENT})*").replace(r"\*", _SEGMENT)
            pieces.append(f"({inner})")
            end = found.end()
        return re.compile("".join(pieces) + re.escape(self.template[end:]))

    def request(self, values: Sequence[str], query: str, body: bytes) -> Message:
        """The request of the method. Raises InvalidInput (``UNDECODABLE_MESSAGE``).

        ``values`` are those of the fields in the path. They and the query are percent-encoded.
        """
        request = GetMessageClass(self.method.input_type)()
        try:
            if self.body == "*":
                _parse(body, request)
            elif self.body:
                _parse(body, getattr(request, self.body))
            tree = self._query(query)
            for name, value in zip(self.fields, values, strict=True):
                _put(tree, name.split("."), unquote(value, errors="strict"))
            json_format.ParseDict(tree, request)
        # (A JSON parser's recursion has no other limit than Python's own.)
        except (json_format.ParseError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise undecodable(self.method, error) from error
        return request

    def _query(self, query: str) -> dict[str, Any]:
        """The parameters of the query as a tree of JSON values. Raises ParseError, ValueError."""
        request = self.method.input_type
        tree: dict[str, Any] = {}
        given: dict[tuple[str, ...], list[str]] = {}
        for key, value in parse_qsl(query, keep_blank_values=True, errors="strict"):
            path = _resolved(request, key)
            if self.body == "*" or path[0] == self.body or ".".join(path) in self.fields:
                raise json_format.ParseError(f'parameter "{key}" belongs elsewhere than here')
            given.setdefault(path, []).append(value)
        for path, texts in given.items():
            *_, field = _fields(request, path)
            _put(tree, path, _value(field, texts))
        return tree


def rules_of(methods: Iterable[MethodDescriptor]) -> list[Rule]:
    """All rules of the methods."""
    rules = []
    for method in methods:
        options = method.GetOptions()
        if options.HasExtension(annotations_pb2.http):
            main = options.Extensions[annotations_pb2.http]
            rules += [_rule(method, one) for one in (main, *main.additional_bindings)]
    return rules


def undecodable(method: MethodDescriptor, error: Exception) -> InvalidInput:
    """The refusal of a request that is not the JSON of its message."""
    kind = method.input_type.name
    text = str(error) if isinstance(error, json_format.ParseError) else type(error).__name__
    return InvalidInput(
        "UNDECODABLE_MESSAGE",
        f"This is not a {kind}: {text}. See /openapi.json for its fields.",
        method=f"/{method.containing_service.full_name}/{method.name}",
    )


def _rule(method: MethodDescriptor, rule: http_pb2.HttpRule) -> Rule:
    verb = next(one for one in _VERBS if getattr(rule, one))
    return Rule(method, verb.upper(), getattr(rule, verb), rule.body)


def _parse(text: bytes, message: Message) -> None:
    if not text.strip():
        return
    if text.lstrip()[:1] != b"{":
        raise json_format.ParseError("it must be an object, {...}")
    json_format.Parse(text, message)


def _resolved(message: Descriptor, name: str) -> tuple[str, ...]:
    """The dotted name of a parameter as names of fields in the .proto file. Raises ParseError."""
    return tuple(field.name for field in _fields(message, name.split(".")))


def _fields(message: Descriptor | None, path: Sequence[str]) -> Iterator[FieldDescriptor]:
    """The fields on the way to a parameter. Raises ParseError."""
    for part in path:
        fields = () if message is None else message.fields
        field = next((one for one in fields if part in (one.name, one.json_name)), None)
        if field is None:
            raise json_format.ParseError(f'there is no parameter "{".".join(path)}"')
        yield field
        message = field.message_type


def _value(field: FieldDescriptor, texts: list[str]) -> Any:
    def value(text: str) -> Any:
        return _TRUTH.get(text, text) if field.type == FieldDescriptor.TYPE_BOOL else text

    if field.is_repeated:
        return [value(text) for text in texts]
    if len(texts) > 1:
        raise json_format.ParseError(f'parameter "{field.json_name}" is given more than once')
    return value(texts[0])


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *parents, last = path
    for part in parents:
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise json_format.ParseError(f'"{part}" and a part of it are both given')
    tree[last] = value
