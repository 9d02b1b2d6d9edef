"""Write ``docs/api.md`` from the .proto files and ``docs/errors.md`` from the table of reasons.

``make protos`` runs this, as ``python -m tools.describe_contract``.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from google.api import annotations_pb2, field_behavior_pb2
from google.protobuf import descriptor_pb2
from tools import contract
from tools.protoc import ROOT

from svddtune.service.reasons import REASONS, code

API = ROOT / "docs" / "api.md"
ERRORS = ROOT / "docs" / "errors.md"

_SCALARS = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()
}
_BEHAVIORS = {
    field_behavior_pb2.REQUIRED: "required",
    field_behavior_pb2.OUTPUT_ONLY: "output only",
}
_Path = tuple[int, ...]
# Numbers of fields in the messages that describe .proto files, of which paths to comments are made.
_FILE_MESSAGE, _FILE_ENUM, _FILE_SERVICE = 4, 5, 6
_MESSAGE_FIELD, _MESSAGE_MESSAGE, _MESSAGE_ENUM, _MESSAGE_ONEOF = 2, 3, 4, 8
_ENUM_VALUE, _SERVICE_METHOD = 2, 2


class _File:
    """One .proto file with its comments."""

    def __init__(self, file: descriptor_pb2.FileDescriptorProto) -> None:
        self.file = file
        self._comments = {
            tuple(one.path): one.leading_comments.strip() for one in file.source_code_info.location
        }

    def comment(self, path: _Path) -> str:
        """The comment on what is at the path, as one paragraph."""
        text = self._comments.get(path, "")
        return _escaped(re.sub(r"\s*\n\s*", " ", text))

    def sections(self) -> Iterator[str]:
        yield from self._services()
        for index, message in enumerate(self.file.message_type):
            yield from self._message(message, (_FILE_MESSAGE, index), "")
        for index, enum in enumerate(self.file.enum_type):
            yield from self._enum(enum, (_FILE_ENUM, index), "")

    def _services(self) -> Iterator[str]:
        for index, service in enumerate(self.file.service):
            path = (_FILE_SERVICE, index)
            yield f"## {service.name}\n\n{self.comment(path)}\n"
            for place, method in enumerate(service.method):
                sent = "stream " * method.client_streaming + _link(method.input_type)
                got = "stream " * method.server_streaming + _link(method.output_type)
                text = self.comment((*path, _SERVICE_METHOD, place))
                text = re.sub(r" ?\b(Errors?(?: [a-z ]+)?:)", r"\n\n\1", text)
                lines = [
                    f"### {service.name}.{method.name}",
                    f"{sent} → {got}",
                    *_http(method),
                    text,
                ]
                yield "\n\n".join(lines) + "\n"

    def _message(
        self, message: descriptor_pb2.DescriptorProto, path: _Path, outer: str
    ) -> Iterator[str]:
        if message.options.map_entry:
            return
        name = outer + message.name
        lines = [f"### {name}\n\n{self.comment(path)}\n"]
        if message.field:
            lines.append("| field | type | meaning |\n|---|---|---|")
        entries = {one.name: one for one in message.nested_type if one.options.map_entry}
        for index, field in enumerate(message.field):
            text = self.comment((*path, _MESSAGE_FIELD, index))
            marks = [_BEHAVIORS[one] for one in _behaviors(field) if one in _BEHAVIORS]
            if field.HasField("oneof_index") and not field.proto3_optional:
                marks.append(f"one of {message.oneof_decl[field.oneof_index].name}")
            mark = f"*{', '.join(marks)}.* " if marks else ""
            lines.append(f"| `{field.name}` | {_type(field, entries)} | {mark}{_cell(text)} |")
        yield "\n".join(lines) + "\n"
        for index, inner in enumerate(message.nested_type):
            yield from self._message(inner, (*path, _MESSAGE_MESSAGE, index), f"{name}.")
        for index, enum in enumerate(message.enum_type):
            yield from self._enum(enum, (*path, _MESSAGE_ENUM, index), f"{name}.")

    def _enum(
        self, enum: descriptor_pb2.EnumDescriptorProto, path: _Path, outer: str
    ) -> Iterator[str]:
        lines = [f"### {outer}{enum.name}\n\n{self.comment(path)}\n"]
        lines.append("| value | number | meaning |\n|---|---|---|")
        for index, value in enumerate(enum.value):
            text = _cell(self.comment((*path, _ENUM_VALUE, index)))
            lines.append(f"| `{value.name}` | {value.number} | {text} |")
        yield "\n".join(lines) + "\n"


def _http(method: descriptor_pb2.MethodDescriptorProto) -> list[str]:
    if not method.options.HasExtension(annotations_pb2.http):
        return []
    rule = method.options.Extensions[annotations_pb2.http]
    ways = []
    for one in (rule, *rule.additional_bindings):
        verb = one.WhichOneof("pattern")
        ways.append(f"`{verb.upper()} {getattr(one, verb)}`")
    return [f"HTTP: {', '.join(ways)}"]


def _behaviors(field: descriptor_pb2.FieldDescriptorProto) -> list[int]:
    return list(field.options.Extensions[field_behavior_pb2.field_behavior])


def _type(
    field: descriptor_pb2.FieldDescriptorProto, entries: dict[str, descriptor_pb2.DescriptorProto]
) -> str:
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None:
        key, value = (_type(one, {}) for one in entry.field)
        return f"map of {key} to {value}"
    repeated = field.label == descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
    name = _link(field.type_name) if field.type_name else _SCALARS[field.type]
    return "repeated " * repeated + "optional " * field.proto3_optional + name


def _link(type_name: str) -> str:
    name = type_name.removeprefix(".svddtune.v1.")
    if name.startswith("."):
        return f"`{name[1:]}`"
    return f"[{name}](#{re.sub(r'[^a-z0-9_]', '', name.lower())})"


def _escaped(text: str) -> str:
    """The text of a comment in Markdown: no emphasis, no link, no HTML by accident."""
    return re.sub(r"(?<!`)([*<>\[\]{}])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def api() -> str:
    """The text of ``docs/api.md``."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "public.binpb"
        contract.build(built)
        found = descriptor_pb2.FileDescriptorSet.FromString(built.read_bytes())
    ours = [_File(one) for one in found.file if one.package == "svddtune.v1"]
    # Services first.
    ours.sort(key=lambda one: (not one.file.service, one.file.name))
    parts = [
        "# API reference\n",
        "Every call, message and enum of `svddtune.v1`, from the comments of the .proto files in "
        "`protos/svddtune/v1/`. `docs/protocol.md` explains the dialogue of a labeler, "
        "`docs/errors.md` every reason of an error, `docs/versioning.md` what may change.\n\n"
        "A field without *optional* has no presence: zero, empty and absent are the same.\n",
    ]
    for one in ours:
        if not one.file.service:
            parts.append(f"## {one.file.name}\n")
        parts += one.sections()
    return "\n".join(parts)


def errors() -> str:
    """The text of ``docs/errors.md``."""
    lines = [
        "# Errors",
        "",
        "A failed call ends with a gRPC code and a `google.rpc.Status`. Decide by the *reason*,",
        "not by code or message: it is in `google.rpc.ErrorInfo`, of domain 'svddtune.github.io'.",
        "`metadata` has the values that the message mentions; sessions, datasets and results under",
        "their full resource names. Further details:",
        "",
        "- `google.rpc.BadRequest` lists all fields at fault, each with a sentence and a reason.",
        "- `google.rpc.PreconditionFailure` names what must change first (FAILED_PRECONDITION).",
        "- `google.rpc.QuotaFailure` names the limit that a request is above.",
        "- `google.rpc.RetryInfo` says how long to wait before the next attempt.",
        "",
        "*Retry* says whether the same request may succeed later with nothing else changed. Wait",
        "0.1 s before the second attempt and longer before each further one, at most 30 s, with",
        "jitter; at least the delay of `RetryInfo`.",
        "`protos/svddtune/v1/service_config.json` lets gRPC do so.",
        "",
        "Written from `service/svddtune/service/reasons.py`.",
        "",
        "| reason | code | retry | metadata | what to do |",
        "|---|---|---|---|---|",
    ]
    for name, one in sorted(REASONS.items()):
        retry = "yes" if one.retryable else "no"
        keys = ", ".join(f"`{key}`" for key in one.metadata)
        lines.append(f"| `{name}` | {code(name).name} | {retry} | {keys} | {one.advice} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    API.write_text(api())
    ERRORS.write_text(errors())
