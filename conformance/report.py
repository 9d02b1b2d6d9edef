"""Shows the outcomes: as a table, as JSON, as JUnit's XML, and as a page."""

import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from conformance.script import Outcome

_COLORS = {"passed": "green", "failed": "red", "not supported": "yellow"}


def show(outcomes: Sequence[Outcome], *, verbose: bool) -> None:
    """Print a table, and the frames of what failed; with `verbose` the frames of everything."""
    console = Console(soft_wrap=False)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Script", no_wrap=True)
    table.add_column("Outcome", no_wrap=True)
    table.add_column("s", justify="right")
    table.add_column("What it shows")
    for one in rows_of(outcomes):
        word = f"[{_COLORS[one.word]}]{one.word}[/]"
        reason = one.failure or one.skipped
        shown = escape(one.summary if not reason else f"{one.summary}\n{reason}")
        table.add_row(escape(one.name), word, f"{one.seconds:.1f}", shown)
    for one in outcomes:
        if verbose or one.failure:
            console.print(f"\n[bold]{escape(one.name)}[/]: {one.word}", highlight=False)
            for line in one.transcript:
                console.print(f"  {escape(line)}", highlight=False, soft_wrap=True)
    console.print(table)
    console.print(summary_of(outcomes), highlight=False)


def rows_of(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes with one in place of all vectors of a kind that have the same outcome."""
    rows, groups = [], dict[tuple[str, str], list[Outcome]]()
    for one in outcomes:
        if not one.vector or one.failure:
            rows.append(one)
        else:
            groups.setdefault((one.vector, one.word), []).append(one)
    for (kind, _), group in groups.items():
        summary = f"{len(group)} vectors of this kind are read as they should be."
        rows.append(replace(group[0], name=f"{kind} vectors", summary=summary))
    return rows


def summary_of(outcomes: Iterable[Outcome]) -> str:
    """Return how many passed and failed, e.g. "27 passed, 1 not supported"."""
    counts = Counter(one.word for one in outcomes)
    return ", ".join(f"{counts[word]} {word}" for word in _COLORS if counts[word])


def write_json(outcomes: Iterable[Outcome], file: Path) -> None:
    """Write the outcomes as a JSON array."""
    rows = [
        {
            "name": one.name,
            "outcome": one.word,
            "summary": one.summary,
            "reason": one.failure or one.skipped,
            "seconds": round(one.seconds, 3),
            "transcript": one.transcript,
        }
        for one in outcomes
    ]
    file.write_text(json.dumps(rows, indent=1) + "\n")


def write_junit(outcomes: Sequence[Outcome], suite: str, file: Path) -> None:
    """Write the outcomes in the XML that CI servers read."""
    root = ET.Element(
        "testsuite",
        name=suite,
        tests=str(len(outcomes)),
        failures=str(sum(1 for one in outcomes if one.failure)),
        skipped=str(sum(1 for one in outcomes if one.skipped)),
    )
    for one in outcomes:
        case = ET.SubElement(
            root, "testcase", classname=suite, name=one.name, time=f"{one.seconds:.3f}"
        )
        if one.failure:
            text = "\n".join(one.transcript)
            ET.SubElement(case, "failure", message=one.failure).text = text
        elif one.skipped:
            ET.SubElement(case, "skipped", message=one.skipped)
    ET.indent(root)
    ET.ElementTree(root).write(file, encoding="unicode", xml_declaration=True)


def page_of(columns: Mapping[str, Sequence[Outcome]], missing: Mapping[str, str]) -> str:
    """Return a table in Markdown with one row per script and one column per language.

    Parameters
    ----------
    columns : mapping
        The outcomes by language.
    missing : mapping
        Why other languages were not tested, by language.
    """
    rows = {language: rows_of(outcomes) for language, outcomes in columns.items()}
    names = dict[str, str]()
    for one in (one for outcomes in rows.values() for one in outcomes):
        names.setdefault(one.name, one.summary)
    words = {
        language: {one.name: one.word for one in outcomes} for language, outcomes in rows.items()
    }
    lines = [
        "| Script | " + " | ".join(columns) + " | What it shows |",
        "|---|" + "---|" * len(columns) + "---|",
    ]
    for name, summary in names.items():
        cells = (words[language].get(name, "") for language in columns)
        lines.append(f"| `{name}` | " + " | ".join(cells) + f" | {summary} |")
    totals = (summary_of(outcomes) for outcomes in columns.values())
    lines.append("| all | " + " | ".join(totals) + " | |")
    lines += [f"\n{language} was not tested: {reason}." for language, reason in missing.items()]
    return "\n".join(lines) + "\n"
