"""The commands: measure, then write documents, tables and pages."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from svddtune.client.errors import UsageError
from svddtune.client.terminal.output import print_json, say
from svddtune.evaluation import (
    ablations,
    choose,
    comparison,
    docs,
    evidence,
    further,
    large,
    noise,
    outlook,
    parallel,
    report,
    summary,
    through_service,
    unseen,
)
from svddtune.evaluation.ablations import Ablations
from svddtune.evaluation.choose import Choosing
from svddtune.evaluation.cli import Options
from svddtune.evaluation.comparison import Comparison
from svddtune.evaluation.competitors import report as competition
from svddtune.evaluation.competitors.needs import require
from svddtune.evaluation.competitors.report import Competition
from svddtune.evaluation.engine import complete
from svddtune.evaluation.labelers import Labelers
from svddtune.evaluation.large import Large
from svddtune.evaluation.methods import METHODS
from svddtune.evaluation.outlook import Outlooks
from svddtune.evaluation.plan import Plan
from svddtune.evaluation.plan import select as select_methods
from svddtune.evaluation.progress import Bar
from svddtune.evaluation.report import Invocation
from svddtune.evaluation.sets import BUILTIN, find_sets, judged
from svddtune.evaluation.store import Record
from svddtune.evaluation.units import Unit, versions
from svddtune.evaluation.unseen import Unseen


def run_paper(options: Options, *, service: bool) -> None:
    """Measure every method of the paper's table, and the sessions compared with it."""
    _check(options.methods, METHODS)
    plan = Plan(
        tuple(find_sets(options.data, options.sets)),
        select_methods(options.methods),
        options.seeds,
    )
    records, invocation = _measured(plan.units(), options, "paper")
    compared = through_service.compare(plan, records) if service else []
    runs = summary.collect(plan, records)
    report.write_csv(options.out / "runs.csv", runs)
    document = report.document(plan, runs, invocation)
    document["evidence"] = evidence.document(plan, records)
    document["service"] = through_service.document(compared)
    _tell(
        options,
        "result.json",
        document,
        lambda: report.overview(plan, runs) or report.table(plan, runs),
        [
            docs.write(folder, plan, runs, records, invocation, compared)
            for folder in _folders(options)
        ],
        "runs.csv",
    )


def run_further(options: Options) -> None:
    """Measure the defaults on sets that took no part in choosing them."""
    _check(options.methods, METHODS)
    plan = Plan(
        tuple(find_sets(options.data, options.sets)),
        further.select(options.methods),
        options.seeds,
        pictures=False,
    )
    records, invocation = _measured(plan.units(), options, "further")
    runs = summary.collect(plan, records)
    report.write_csv(options.out / "further.csv", runs)
    document = report.document(plan, runs, invocation)
    document["evidence"] = evidence.document(plan, records)
    _tell(
        options,
        "further.json",
        document,
        lambda: report.overview(plan, runs),
        [further.write(folder, plan, runs, records, invocation) for folder in _folders(options)],
        "further.csv",
    )


def run_ablations(options: Options, *, share: float) -> None:
    """Measure LAMA with single steps left out or replaced."""
    of = Ablations(tuple(judged(find_sets(options.data, options.sets))), options.seeds, share)
    _report(options, "ablations", of, ablations, runs=ablations.runs, share=share)


def run_choose(options: Options) -> None:
    """Choose representations, lattice and belief, leaving one set out at a time."""
    of = Choosing(
        tuple(find_sets(options.data, options.sets)),
        choose.select(options.methods),
        options.seeds,
    )
    _report(options, "choose", of, choose)


def run_outlook(options: Options) -> None:
    """Measure whether the share of outliers and the expected gain that sessions state are right."""
    of = Outlooks(tuple(find_sets(options.data, options.sets)), options.seeds)
    _report(options, "outlook", of, outlook)


def run_competitors(options: Options) -> None:
    """Measure what a user would pick instead, with the same or as many labels."""
    require("optuna", "skactiveml")
    of = Competition(tuple(judged(find_sets(options.data, options.sets))), options.seeds)
    _report(options, "competitors", of, competition, runs=competition.runs)


def run_unseen(options: Options) -> None:
    """Measure the recall of outliers of a kind that was kept from the session."""
    of = Unseen(unseen.enough(find_sets(options.data, options.sets)), options.seeds)
    _report(options, "unseen", of, unseen, runs=unseen.runs)


def run_large(options: Options) -> None:
    """Measure sessions on large sets that start without a label."""
    of = Large(large.larger(find_sets(options.data, options.sets)), options.seeds)
    _report(options, "large", of, large, runs=large.runs)


def run_noise(options: Options, *, share: float) -> None:
    """Measure sessions with wrong votes, by the number of votes sought."""
    compared = _comparison(options, noise.METHODS, noise.settings(share))
    _report(options, "noise", compared, noise, runs=comparison.runs, share=share)


def run_parallel(options: Options) -> None:
    """Measure sessions with several open queries."""
    compared = _comparison(options, parallel.METHODS, parallel.settings())
    _report(options, "parallel", compared, parallel, runs=comparison.runs)


def _report(
    options: Options,
    name: str,
    of: Any,
    study: ModuleType,
    *,
    runs: Callable[[Any, Any], Sequence[Any]] | None = None,
    share: float = noise.SHARE,
) -> None:
    """Measure, and write the document, the table of runs and the pages of a study.

    `study` has ``document(of, records, invocation)``, ``tables(of, records)`` and
    ``write(folder, of, records, invocation)``.
    """
    records, invocation = _measured(of.units(), options, name, share=share)
    if runs is not None:
        report.write_csv(options.out / f"{name}.csv", runs(of, records))
    _tell(
        options,
        f"{name}.json",
        study.document(of, records, invocation),
        lambda: study.tables(of, records),
        [study.write(folder, of, records, invocation) for folder in _folders(options)],
        f"{name}.json" if runs is None else f"{name}.csv",
    )


def _check(names: Sequence[str], known: Iterable[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"--methods: unknown method {', '.join(unknown)}; use {', '.join(known)}")


def _comparison(
    options: Options, among: Sequence[str], settings: Mapping[str, Labelers]
) -> Comparison:
    _check(options.methods, among)
    return Comparison(
        tuple(judged(find_sets(options.data, options.sets))),
        comparison.select(options.methods, among),
        settings,
        options.seeds,
    )


def _measured(
    units: Sequence[Unit], options: Options, name: str, *, share: float = noise.SHARE
) -> tuple[dict[str, Record], Invocation]:
    """Return all records, and the facts of the run that reports name."""
    started = time.monotonic()
    with Bar(units) as bar:
        records = complete(units, options.out, jobs=options.jobs, on_done=bar)
    seconds = time.monotonic() - started
    work = sum(record["seconds"] for record in records.values())
    return records, Invocation(
        _command(options, name, share), seconds, work, options.jobs, versions(name)
    )


def _tell(
    options: Options,
    file: str,
    document: dict[str, Any],
    text: Callable[[], str],
    pages: Sequence[Path],
    table: str,
) -> None:
    (options.out / file).write_text(json.dumps(document, indent=2, allow_nan=False) + "\n")
    if options.as_json:
        print_json(document)
    else:
        print(text())
    say(f"Wrote {', '.join(str(page) for page in pages)} and {options.out / table}")


def _folders(options: Options) -> list[Path]:
    return [options.out] if options.docs is None else [options.out, options.docs]


def _command(options: Options, name: str, share: float) -> str:
    """Return the command line with paths replaced by placeholders."""
    words = ["svddtune", "bench", name]
    if name != "further" or str(options.data) != BUILTIN:
        words += ["--data", BUILTIN if str(options.data) == BUILTIN else "DIR"]
    words += ["--seeds", str(options.seeds)]
    if share != noise.SHARE:
        words += ["--share", f"{share:g}"]
    for option in ("methods", "sets"):
        if getattr(options, option):
            shown = "candidates" if name == "choose" and option == "methods" else option
            words += [f"--{shown}", ",".join(getattr(options, option))]
    words += ["--write-docs", "docs"] if options.docs is not None else []
    return shlex.join(words)
