"""The reasons in the code and the reasons that the protos list are the same."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from svddtune.state import scripts

ROOT = Path(__file__).parent.parent.parent
PROTOS = ROOT / "protos" / "svddtune" / "v1"
SERVICE = ROOT / "service" / "svddtune"
SCRIPTS = SERVICE / "state" / "scripts"

ERRORS = {
    "Conflict",
    "InvalidInput",
    "NotFound",
    "Silent",
    "StateError",
    "StoreUnavailable",
    "TooLarge",
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


def comment_before(proto: str, declaration: str, within: str) -> set[str]:
    """The reasons in the comment on a declaration inside a message."""
    body = (PROTOS / proto).read_text().split(f"message {within} {{", 1)[1]
    found = re.search(rf"((?:  //[^\n]*\n)+)  {re.escape(declaration)}", body)
    assert found
    return set(re.findall(r"\b[A-Z][A-Z_]{5,}\b", found.group(1)))


def listed_errors() -> set[str]:
    """All reasons of errors in the comments."""
    found = set()
    for proto in ("common.proto", "dataset.proto", "oracle.proto", "tuning.proto"):
        for block in comments(proto):
            found |= set(re.findall(r"^   ([A-Z_]+)  ", block, re.MULTILINE))
            for tail in re.findall(
                r"(?:Errors(?: that end the stream)?|Reasons): (.*)", block, re.DOTALL
            ):
                found |= set(LISTED.findall(tail.split("google.rpc")[0]))
    return found


def test_errors_of_the_code_are_those_that_the_protos_list() -> None:
    python = [*(SERVICE / "service").glob("*.py"), *(SERVICE / "state").glob("*.py")]
    given = raised_in(*python) | refused_in(*SCRIPTS.rglob("*.lua"))
    assert given - INTERNAL_ONLY == listed_errors()


def test_rejects_have_the_reasons_that_their_comment_lists() -> None:
    items = ("answer", "skip", "extend", "release", "retract")
    given = {reason for name in items for reason in scripts.SCRIPTS[name].refusals}
    given |= raised_in(SERVICE / "service" / "labeling.py")
    # Names, fields and observations of the item.
    given |= {"INVALID_NAME", "INVALID_FIELD", "UNKNOWN_OBSERVATION", "DATASET_NOT_FOUND"}
    (block,) = [one for one in comments("oracle.proto") if "One item was refused." in one]
    assert given == set(LISTED.findall(block))


def test_reasons_of_revoke_are_those_that_its_comment_lists() -> None:
    tree = ast.parse((SERVICE / "service" / "serving.py").read_text())
    (function,) = [node for node in ast.walk(tree) if getattr(node, "name", "") == "revoked"]
    given = {text(node) for node in ast.walk(function) if REASON.fullmatch(text(node))}
    assert given == comment_before("oracle.proto", "string reason", "Revoke")


def test_reasons_of_finished_are_those_that_its_comment_lists() -> None:
    # Of this labeler alone, and of a session that is no more.
    given = {"LABELER_WITHDRAWN", "DELETED"}
    for script in SCRIPTS.rglob("*.lua"):
        source = script.read_text()
        given |= set(re.findall(r"begin_estimating\(s, '([A-Z_]+)'\)", source))
        given |= set(re.findall(r"'finish_reason', '([A-Z_]+)'", source))
    assert given == comment_before("oracle.proto", "string reason", "Finished")
