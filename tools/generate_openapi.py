"""Generate the OpenAPI document of the calls over HTTP from the .proto files.

Paths come from the ``google.api.http`` rules, schemas from the messages, descriptions from the
comments. Run it with: python -m tools.generate_openapi [FILE]
"""

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.api import field_behavior_pb2
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    MethodDescriptor,
)
from tools import contract
from tools.protoc import ROOT

from svddtune.service.http.rules import Rule, rules_of
from svddtune.service.server import SERVICES

OUT = ROOT / "service" / "svddtune" / "service" / "http" / "openapi.json"

Json = dict[str, Any]

_SCALARS: dict[int, Json] = {
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BYTES: {"type": "string", "format": "byte"},
    FieldDescriptor.TYPE_DOUBLE: {"type": "number", "format": "double"},
    FieldDescriptor.TYPE_FLOAT: {"type": "number", "format": "float"},
    FieldDescriptor.TYPE_INT32: {
        "type": "integer",
        "minimum": -(2**31),
        "maximum": 2**31 - 1,
    },
    FieldDescriptor.TYPE_UINT32: {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    # JSON's numbers are exact up to 53 bits only.
    FieldDescriptor.TYPE_INT64: {"type": "string", "pattern": "^-?[0-9]{1,19}$"},
    FieldDescriptor.TYPE_UINT64: {"type": "string", "pattern": "^[0-9]{1,20}$"},
}
_WELL_KNOWN: dict[str, Json] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.FieldMask": {
        "type": "string",
        "description": "Names of fields, with commas between them.",
    },
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.protobuf.Any": {
        "type": "object",
        "properties": {"@type": {"type": "string"}},
        "additionalProperties": True,
    },
}
_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "status", "message", "details"],
            "properties": {
                "code": {"type": "integer", "description": "The HTTP status."},
                "status": {"type": "string", "description": "The name of gRPC's code."},
                "message": {"type": "string", "description": "A sentence for people."},
                "details": {
                    "type": "array",
                    "description": "Details of google.rpc; ErrorInfo has the stable reason.",
                    "items": _WELL_KNOWN["google.protobuf.Any"],
                },
            },
        }
    },
}


def document() -> Json:
    """The OpenAPI document."""
    pool = descriptor_pool.Default()
    services = [pool.FindServiceByName(name) for name in SERVICES]
    maker = _Maker(comments())
    methods = [method for service in services for method in service.methods]
    paths: Json = {}
    for rule in rules_of(methods):
        path, operation = maker.operation(rule)
        paths.setdefault(path, {})[rule.verb.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "svddtune",
            "version": "v1",
            "description": "The calls of svddtune as JSON over HTTP. See docs/http.md.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "tags": [
            {"name": one.name, "description": maker.comment(one.full_name)} for one in services
        ],
        "paths": paths,
        "components": {"schemas": dict(sorted(maker.schemas.items()))},
    }


class _Maker:
    """Makes operations, and collects the schemas that they refer to."""

    def __init__(self, comments: dict[str, str]) -> None:
        self._comments = comments
        self.schemas: Json = {"Error": _ERROR}
        self._rules: Counter[str] = Counter()

    def comment(self, name: str) -> str:
        """The comment on what has this full name."""
        return self._comments.get(name, "")

    def operation(self, rule: Rule) -> tuple[str, Json]:
        """The path and the operation of a rule."""
        method = rule.method
        path, parameters = _path(rule)
        operation: Json = {
            "operationId": self._operation_id(method),
            "tags": [method.containing_service.name],
            "description": self.comment(method.full_name),
            "parameters": parameters,
        }
        if rule.body:
            operation["requestBody"] = self._body(rule)
        if rule.body != "*":
            used = {*rule.fields, rule.body}
            parameters += self._query(method.input_type, used)
        operation["responses"] = {
            "200": {"description": "The response.", "content": self._content(method)},
            "default": {
                "description": "The error.",
                "content": {"application/json": {"schema": _reference("Error")}},
            },
        }
        return path, {key: value for key, value in operation.items() if value}

    def _operation_id(self, method: MethodDescriptor) -> str:
        """Service and method, with a number from the method's second rule on."""
        name = f"{method.containing_service.name}_{method.name}"
        self._rules[name] += 1
        number = self._rules[name]
        return name if number == 1 else f"{name}_{number}"

    def _body(self, rule: Rule) -> Json:
        request = rule.method.input_type
        if rule.body != "*":
            schema = self._field(request.fields_by_name[rule.body])
        elif top := {name for name in rule.fields if "." not in name}:
            schema = self._object(request, without=top)
        else:
            schema = self._message(request)
        kind = "application/x-ndjson" if rule.method.client_streaming else "application/json"
        return {"required": True, "content": {kind: {"schema": schema}}}

    def _content(self, method: MethodDescriptor) -> Json:
        schema = self._message(method.output_type)
        if not method.server_streaming:
            return {"application/json": {"schema": schema}}
        line = {
            "anyOf": [{"type": "object", "properties": {"result": schema}}, _reference("Error")]
        }
        return {
            "application/x-ndjson": {"schema": line},
            "text/event-stream": {"schema": schema},
        }

    def _query(self, message: Descriptor, used: set[str], prefix: str = "") -> list[Json]:
        parameters: list[Json] = []
        for field in message.fields:
            name = f"{prefix}{field.name}"
            if name in used:
                continue
            nested = field.message_type
            if nested is not None and nested.full_name not in _WELL_KNOWN:
                if not field.is_repeated:
                    parameters += self._query(nested, used, f"{name}.")
                continue
            schema = self._field(field)
            parameters.append(
                {
                    "name": ".".join(_camel(part) for part in name.split(".")),
                    "in": "query",
                    "description": schema.pop("description", ""),
                    "required": _is_required(field),
                    "schema": schema,
                }
            )
        return [{k: v for k, v in one.items() if v} for one in parameters]

    def _message(self, message: Descriptor) -> Json:
        if message.full_name in _WELL_KNOWN:
            return dict(_WELL_KNOWN[message.full_name])
        name = _schema_name(message)
        if name not in self.schemas:
            self.schemas[name] = {}  # a message may hold itself
            self.schemas[name] = self._object(message)
        return _reference(name)

    def _object(self, message: Descriptor, without: set[str] = frozenset()) -> Json:  # type: ignore[assignment]
        fields = [one for one in message.fields if one.name not in without]
        schema: Json = {"type": "object"}
        if text := self.comment(message.full_name):
            schema["description"] = text
        schema["properties"] = {one.json_name: self._field(one) for one in fields}
        if required := [one.json_name for one in fields if _is_required(one)]:
            schema["required"] = required
        schema["additionalProperties"] = False
        return schema

    def _enum(self, enum: EnumDescriptor) -> Json:
        name = _schema_name(enum)
        if name not in self.schemas:
            lines = [self.comment(enum.full_name)]
            lines += [
                f"{one.name}: {text}"
                for one in enum.values
                if (text := self.comment(f"{enum.full_name}.{one.name}"))
            ]
            self.schemas[name] = {
                "type": "string",
                "description": "\n".join(line for line in lines if line),
                "enum": [one.name for one in enum.values],
            }
        return _reference(name)

    def _field(self, field: FieldDescriptor) -> Json:
        described: Json = {}
        if text := self.comment(field.full_name):
            described["description"] = text
        if _behaves(field, field_behavior_pb2.OUTPUT_ONLY):
            described["readOnly"] = True
        message = field.message_type
        if message is not None and message.GetOptions().map_entry:
            value = self._single(message.fields_by_name["value"])
            return {"type": "object", "additionalProperties": value, **described}
        if field.is_repeated:
            return {"type": "array", "items": self._single(field), **described}
        return {**self._single(field), **described}

    def _single(self, field: FieldDescriptor) -> Json:
        if field.enum_type is not None:
            return self._enum(field.enum_type)
        if field.message_type is not None:
            return self._message(field.message_type)
        return dict(_SCALARS[field.type])


def comments() -> dict[str, str]:
    """The comments of the .proto files, by the full names of what they stand at."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "descriptors")
        contract.build(out)
        described = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    own = (file for file in described.file if file.name.startswith(contract.PUBLIC))
    return dict(pair for file in own for pair in _comments_of(file))


def _comments_of(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[str, str]]:
    for location in file.source_code_info.location:
        text = location.leading_comments or location.trailing_comments
        if text and len(location.path) % 2 == 0:
            yield _name_at(file, location.path), _plain(text)


def _name_at(file: descriptor_pb2.FileDescriptorProto, path: Any) -> str:
    """The full name of what stands at a path of source_code_info."""
    here: Any = file
    names = [file.package]
    for number, index in zip(path[::2], path[1::2], strict=True):
        here = getattr(here, here.DESCRIPTOR.fields_by_number[number].name)[index]
        names.append(here.name)
    return ".".join(names)


def _plain(text: str) -> str:
    """A comment as paragraphs without line breaks inside."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def _path(rule: Rule) -> tuple[str, list[Json]]:
    """The path with one parameter for each ``*``, and these parameters."""
    parameters: list[Json] = []

    def variable(name: str) -> str:
        parameters.append(
            {
                "name": name,
                "in": "path",
                "required": True,
                # A colon would begin the name of a custom method.
                "schema": {"type": "string", "pattern": "^[^/:]+$"},
            }
        )
        return f"{{{name}}}"

    def expanded(found: re.Match[str]) -> str:
        field, inner = found[1], found[2] or "*"
        pieces = inner.split("/")
        for index, piece in enumerate(pieces):
            if piece in ("*", "**"):
                above = pieces[index - 1].removesuffix("s") if index else _camel(field)
                pieces[index] = variable(above)
        return "/".join(pieces)

    path = re.sub(r"\{([\w.]+)(?:=([^}]*))?\}", expanded, rule.template)
    return path, parameters


def _schema_name(described: Descriptor | EnumDescriptor) -> str:
    return described.full_name.removeprefix(f"{described.file.package}.")


def _reference(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _behaves(field: FieldDescriptor, behavior: int) -> bool:
    return behavior in field.GetOptions().Extensions[field_behavior_pb2.field_behavior]


def _is_required(field: FieldDescriptor) -> bool:
    return _behaves(field, field_behavior_pb2.REQUIRED)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def text() -> str:
    """The document as it is stored."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out.write_text(text())
