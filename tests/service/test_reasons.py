"""The reasons in the code and the reasons that the protos list are the same."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import grpc

from svddtune.service.reasons import REASONS, code
from svddtune.state import scripts
from svddtune.state.calls import refusal
from svddtune.v1 import oracle_pb2

ROOT = Path(__file__).parent.parent.parent
PROTOS = ROOT / "protos" / "svddtune" / "v1"
SERVICE = ROOT / "service" / "svddtune"
SCRIPTS = SERVICE / "state" / "scripts"
# (What HTTP adds has a page of its own.)
FOLDERS = (SERVICE / "service", SERVICE / "service" / "access", SERVICE / "state")
REVOKE_REASONS = oracle_pb2.RevokeReason.DESCRIPTOR.values_by_name
FINISH_REASONS = oracle_pb2.FinishReason.DESCRIPTOR.values_by_name

ERRORS = {
    "Conflict",
    "Forbidden",
    "InvalidInput",
    "NotFound",
    "QuotaExceeded",
    "ProviderAway",
    "Silent",
    "StateError",
    "StoreUnavailable",
    "TooLarge",
    "Unauthenticated",
    "WrongState",
    # Of a leaf that names its reason itself.
    "__init__",
}
# Told to a worker, and to who starts a process: no caller ever sees them.
INTERNAL_ONLY = {"CLAIM_LOST", "DATASET_CACHE_UNUSABLE", "REDIS_UNSAFE"}
REASON = re.compile(r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*")
LISTED = re.compile(r"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|INTERNAL|DRAINING)\b")


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Calls with the name of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield function.id, node
            elif isinstance(function, ast.Attribute):
                yield function.attr, node


def text(node: ast.AST) -> str:
    """A literal text; empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def raised_in(*files: Path) -> set[str]:
    """Reasons that Python gives."""
    found = set()
    for file in files:
        for name, call in calls(ast.parse(file.read_text())):
            first = text(call.args[0]) if call.args else ""
            # (One of several words is one wherever it comes first, as for what makes errors.)
            given = [first] if name in ERRORS or "_" in first else []
            given += [text(one.value) for one in call.keywords if one.arg == "reason"]
            found |= {one for one in given if REASON.fullmatch(one)}
    return found


def refused_in(*files: Path) -> set[str]:
    """Reasons that scripts give."""
    found = set()
    for file in files:
        for arguments in re.findall(r"refuse\(([^)]*)", file.read_text()):
            found |= set(re.findall(r"'([A-Z_]+)'", arguments))
    return found


def comments(proto: str) -> Iterator[str]:
    """The blocks of comments."""
    block: list[str] = []
    for line in [*(PROTOS / proto).read_text().splitlines(), ""]:
        if line.strip().startswith("//"):
            block.append(line.strip().removeprefix("//"))
        elif block:
            yield "\n".join(block)
            block = []


def listed_errors() -> set[str]:
    """All reasons of errors in the comments."""
    found = set()
    for proto in ("common.proto", "dataset.proto", "oracle.proto", "scoring.proto", "tuning.proto"):
        for block in comments(proto):
            found |= set(re.findall(r"^   ([A-Z_]+)  ", block, re.MULTILINE))
            for tail in re.findall(
                r"(?:Errors(?: that end the stream)?|Reasons): (.*)", block, re.DOTALL
            ):
                found |= set(LISTED.findall(tail.split("google.rpc")[0]))
    return found


def test_errors_of_the_code_are_those_that_the_protos_list() -> None:
    # (These two say what a service lacks, not why a call failed.)
    others = {"readiness.py", "probe.py"}
    python = [file for folder in FOLDERS for file in folder.glob("*.py") if file.name not in others]
    given = raised_in(*python) | refused_in(*SCRIPTS.rglob("*.lua"))
    assert given - INTERNAL_ONLY == listed_errors()


def test_rejects_have_the_reasons_that_their_comment_lists() -> None:
    items = ("answer", "skip", "extend", "release", "retract")
    given = {reason for name in items for reason in scripts.SCRIPTS[name].refusals}
    given |= raised_in(SERVICE / "service" / "labeling.py")
    # Names, fields and observations of the item.
    given |= {"INVALID_NAME", "INVALID_FIELD", "UNKNOWN_OBSERVATION", "DATASET_NOT_FOUND"}
    given |= {"RATE_EXCEEDED"}
    (block,) = [one for one in comments("oracle.proto") if "One item was refused." in one]
    assert given == set(LISTED.findall(block))


def test_revoke_has_each_of_its_reasons_somewhere_in_the_code() -> None:
    source = (SERVICE / "service" / "serving.py").read_text()
    given = set(re.findall(r"REVOKE_REASON_\w+", source))
    assert given == set(REVOKE_REASONS) - {"REVOKE_REASON_UNSPECIFIED"}


def test_finish_reasons_of_the_code_are_those_of_the_enum() -> None:
    # Of this labeler alone, and of a session that is no more.
    given = {"LABELER_WITHDRAWN", "TAGS_MISSING", "DELETED"}
    for script in SCRIPTS.rglob("*.lua"):
        source = script.read_text()
        given |= set(re.findall(r"begin_estimating\(s, '([A-Z_]+)'\)", source))
        given |= set(re.findall(r"'finish_reason', '([A-Z_]+)'", source))
    names = {name.removeprefix("FINISH_REASON_") for name in FINISH_REASONS}
    assert given == names - {"UNSPECIFIED"}


def test_reasons_of_http_are_those_on_its_page() -> None:
    given = raised_in(*(SERVICE / "service" / "http").glob("*.py"))
    page = (ROOT / "docs" / "http.md").read_text()
    (block,) = re.findall(r"HTTP adds some of its own:(.*?)\n\n", page, re.DOTALL)
    # What gRPC refuses in the same way, under the same reason.
    assert given - listed_errors() == set(LISTED.findall(block))


def raised() -> Iterator[tuple[str, str, set[str]]]:
    """Reason, name of the exception and keys of its metadata, of all places that say all three."""
    kinds = ERRORS - {"StateError", "Silent", "__init__"}
    for file in (file for folder in FOLDERS for file in folder.glob("*.py")):
        for name, call in calls(ast.parse(file.read_text())):
            reason = text(call.args[0]) if call.args else ""
            if name in kinds and REASON.fullmatch(reason) and reason not in INTERNAL_ONLY:
                # (retry_s becomes RetryInfo.)
                yield reason, name, {one.arg for one in call.keywords if one.arg} - {"retry_s"}
    for script in scripts.SCRIPTS.values():
        for reason, values in script.refusals.items():
            if reason not in INTERNAL_ONLY:
                given = dict.fromkeys(script.arguments, "")
                error = refusal(reason, dict.fromkeys(values, 0), given)
                yield reason, type(error).__name__, set(error.metadata)


def test_errors_have_the_kind_and_the_metadata_of_the_table() -> None:
    found = list(raised())
    assert len(found) > 50
    for reason, kind, keys in found:
        known = REASONS[reason]
        assert (reason, kind) == (reason, known.kind.__name__)
        assert keys <= set(known.metadata), reason


def test_table_has_the_reasons_that_the_protos_list() -> None:
    assert REASONS.keys() == listed_errors()


def test_comment_on_a_call_names_known_reasons_only() -> None:
    for proto in ("dataset.proto", "oracle.proto", "tuning.proto"):
        for block in comments(proto):
            for tail in re.findall(r"Errors(?: [a-z ]+)?: (.*)", block, re.DOTALL):
                assert set(re.findall(r"\b[A-Z]+_[A-Z_]+\b", tail)) <= REASONS.keys(), block


def test_code_of_every_reason_is_an_error() -> None:
    assert {code(reason) for reason in REASONS}.isdisjoint({grpc.StatusCode.OK})
    retryable = {reason for reason, one in REASONS.items() if one.retryable}
    assert {code(reason) for reason in retryable} == {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    }
