"""Makes the page of a report."""

from __future__ import annotations

import json
from typing import Any

import svddtune
from svddtune.client.extras import needs_extra
from svddtune.client.json_values import jsonable
from svddtune.client.phrases import expected, figure
from svddtune.client.pictures.style import metric_name, rule_name
from svddtune.client.report import usage, words
from svddtune.client.report.contents import Contents
from svddtune.client.report.drawings import drawn
from svddtune.client.report.log import events_shown, lines
from svddtune.config import changed
from svddtune.text import visible

EXTRA = "report"


def page(contents: Contents, *, server: str, command: usage.Command) -> str:
    """Return the report as one HTML document without references to anything outside it.

    All text of others is escaped, and a policy in the document forbids scripts and connections.

    Parameters
    ----------
    contents : Contents
        What to tell.
    server : str
        Address of the service, for Python to paste.
    command : callable
        Takes the words of a command; returns the command line that reaches the service.

    Raises
    ------
    NotInstalled
        Without Jinja or matplotlib, which come with the extra ``report``.
    """
    with needs_extra(EXTRA, "The report"):
        import matplotlib  # noqa: F401
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup

    def shown(value: Any) -> Any:
        # (What is marked as safe is ours; all else is escaped afterwards.)
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    def code(text: str) -> Any:
        return Markup("\n").join(visible(line) for line in text.split("\n"))

    environment = Environment(
        loader=PackageLoader("svddtune.client.report"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "code": code,
        "figure": figure,
        "instant": words.instant,
        "metric": metric_name,
        "rule": rule_name,
        "seconds": words.seconds,
        "score": words.of_score,
        "score_in_column": words.in_column,
    }
    result = contents.result
    pictures = [(one.title, one.words, Markup(one.svg)) for one in drawn(contents)]
    return environment.get_template("page.html").render(
        contents=contents,
        session=contents.session,
        dataset=contents.dataset,
        result=result,
        words=words,
        pictures=pictures,
        changed=_changed(contents),
        gain=None
        if result is None or result.expected_gain is None
        else expected(result.expected_gain),
        log=lines(contents.events),
        log_shown=events_shown(contents.events),
        uses=_uses(contents, server, command) if result is not None else [],
        commands=_next(contents, command),
        manifest=None if result is None else _manifest(contents),
        version=svddtune.__version__,
    )


def _changed(contents: Contents) -> list[tuple[str, str, str]]:
    """Return name, value and meaning of the settings that are not the default's."""
    found = changed(contents.session.config, contents.dataset.observation_count)
    return [
        (
            setting.name,
            ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value),
            setting.help,
        )
        for setting, value in found
    ]


def _uses(contents: Contents, server: str, command: usage.Command) -> list[tuple[str, str]]:
    session = contents.session.name
    id_ = session.removeprefix("sessions/")
    return [
        ("Judge new rows by the service", command("predict", id_, "NEW.csv")),
        (
            "Write the model to a file, and judge by it without the service",
            f"{command('export', id_)}\nsvddtune predict {id_}.npz NEW.csv",
        ),
        ("In Python, and as a scikit-learn pipeline", usage.npz_lines(f"{id_}.npz")),
        ("As ONNX, for any ONNX runtime", command("export", id_, "--format", "onnx")),
        ("With onnxruntime", usage.onnx_lines(f"{id_}.onnx")),
        ("In Python by the service, with reasons", usage.service_lines(server, session)),
    ]


def _next(contents: Contents, command: usage.Command) -> list[tuple[str, str]]:
    """Return what to do with the session itself."""
    id_ = contents.session.name.removeprefix("sessions/")
    found = [("See how it stands", command("session", "show", id_))]
    if not contents.session.state.ended:
        found.append(("Give labels", command("label", id_)))
    if contents.labels:
        labels = command("session", "labels", id_, "--csv")
        found.append(("Write the labels to a file", f"{labels} > labels.csv"))
    if contents.session.counts.total and (budget := _next_budget(contents)):
        again = command("session", "clone", id_, "--labels", "--budget", str(budget))
        found.append(("Go on in a new session with its labels and settings", again))
    return found


def _next_budget(contents: Contents) -> int:
    """Return a budget with room for labels beside those there are; 0 where none is left."""
    rows, labels = contents.dataset.observation_count, contents.session.counts.total
    budget = contents.session.config.budget
    if labels < budget:
        return budget
    return min(2 * budget, rows) if labels < rows else 0


def _manifest(contents: Contents) -> str:
    assert contents.result is not None
    values = jsonable(contents.result.manifest)
    parts = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    return "{\n" + ",\n".join(parts) + "\n}"
