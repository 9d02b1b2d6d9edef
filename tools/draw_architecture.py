"""Draw the pictures of ``docs/architecture.md`` from its tables of steps.

``make format`` runs this. Each table describes a way through the files, with a row for each step.
The picture above it shows the files by process, and the steps that lead from one file to another.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"

_ROW = re.compile(
    r"^\| (?P<number>\d+) \| (?P<origin>\d+|start) \| (?P<by>[\w ]+?)( `(?P<token>\w+)`)? "
    r"\| (?P<process>\w+) \| `(?P<path>[^`]+)` \| `(?P<function>[\w.]+)` \| (?P<duty>.+) \|$"
)
_WAY = re.compile(
    r"(?P<before>```mermaid\n).*?(?P<between>```\n.*?)(?P<table>^\| step .*?)(?=\n\n|\Z)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a function of a file, and how another step leads to it."""

    number: int
    # The step that leads to this one; None for the first.
    origin: int | None
    # "call", "script", or what else: then ``token`` is a word that both files contain.
    by: str
    token: str
    process: str
    path: str
    # "Class.method", "function", or the name of a script.
    function: str


def ways(page: str) -> list[list[Step]]:
    """The steps of each table.

    Raises
    ------
    ValueError
        A row of a table is malformed.
    """
    return [_steps(match["table"]) for match in _WAY.finditer(page)]


def _steps(table: str) -> list[Step]:
    steps = []
    for line in table.splitlines()[2:]:
        match = _ROW.match(line)
        if match is None:
            raise ValueError(f"not a step: {line}")
        steps.append(
            Step(
                number=int(match["number"]),
                origin=None if match["origin"] == "start" else int(match["origin"]),
                by=match["by"],
                token=match["token"] or "",
                process=match["process"],
                path=match["path"],
                function=match["function"],
            )
        )
    return steps


def picture(steps: list[Step]) -> str:
    """A Mermaid flowchart of the files; arrows carry the numbers of the steps."""
    places = list(dict.fromkeys((step.process, step.path) for step in steps))
    names = {place: f"f{index}" for index, place in enumerate(places)}
    lines = ["flowchart LR"]
    for process in dict.fromkeys(process for process, _ in places):
        lines.append(f"  subgraph {process}")
        lines += [
            f"    {names[place]}[{'/'.join(Path(place[1]).parts[-2:])}]"
            for place in places
            if place[0] == process
        ]
        lines.append("  end")
    by_number = {step.number: step for step in steps}
    arrows: dict[tuple[str, str], list[str]] = {}
    for step in steps:
        if step.origin is not None:
            origin = by_number[step.origin]
            ends = names[origin.process, origin.path], names[step.process, step.path]
            if ends[0] != ends[1]:
                arrows.setdefault(ends, []).append(str(step.number))
    lines += [f"  {a} -->|{', '.join(numbers)}| {b}" for (a, b), numbers in arrows.items()]
    return "\n".join(lines) + "\n"


def redrawn(page: str) -> str:
    """The page with its pictures as the tables say."""
    return _WAY.sub(
        lambda way: way["before"] + picture(_steps(way["table"])) + way["between"] + way["table"],
        page,
    )


if __name__ == "__main__":
    PAGE.write_text(redrawn(PAGE.read_text()))
