"""Where output goes: results to stdout, all else to stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from svddtune.text import printable, redacted

if TYPE_CHECKING:
    from rich.console import Console

    from svddtune.client.types import DetectorComparison, LiveEvidence, OutlierShare


_LEAST_GAIN = 0.005  # of kappa: less is shown as 0.00


def print_json(document: Any) -> None:
    """Print the one document that --json promises."""
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def stderr() -> Console:
    """Return a console on stderr: no escape codes unless it is a terminal.

    Text is shown as it is: no markup, no emoji codes, and steering characters written out.
    """
    from svddtune.client.terminal.console import SafeConsole

    return SafeConsole(stderr=True)


def stdout() -> Console:
    """Return a console on stdout; see `stderr`."""
    from svddtune.client.terminal.console import SafeConsole

    return SafeConsole()


def say(message: str) -> None:
    """Print a line on stderr, with steering characters written out."""
    print(printable(redacted(message)), file=sys.stderr, flush=True)


def tell(message: str) -> None:
    """Print a line of the result on stdout, with steering characters written out."""
    print(printable(message), flush=True)


def figure(value: float | None, digits: int = 4) -> str:
    """Return a figure as people read it; a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.{digits}g}"


def gamma_of(gamma: float | None, scaling: str, digits: int = 4) -> str:
    """Return a gamma with the scaling that it belongs to, for example "0.4 (minmax)"."""
    shown = figure(gamma, digits)
    return f"{shown} ({scaling})" if scaling not in ("", "none") else shown


def evidence(live: LiveEvidence) -> str:
    """Return what is live after a label, in a line."""
    text = f"gamma {gamma_of(live.gamma, live.scaling, 3)}, C {figure(live.C, 3)}"
    quality = live.quality
    if quality.interval:
        low, high = figure(quality.interval.low, 2), figure(quality.interval.high, 2)
        text += f", {quality.metric} {figure(quality.value, 2)} [{low}, {high}]"
    return text


def estimated(share: OutlierShare) -> str:
    """Return the estimated share of outliers, with its interval and where it comes from."""
    low, high = f"{share.interval.low:.1%}", f"{share.interval.high:.1%}"
    source = "by audit" if share.method == "audit" else "from the labels"
    return f"{share.value:.1%} [{low}, {high}], estimated {source}"


def expected(gain: float) -> str:
    """Return what 10 further labels are expected to gain."""
    return f"less than {_LEAST_GAIN}" if gain < _LEAST_GAIN else f"about {gain:.2f}"


def compared(detectors: DetectorComparison) -> str:
    """Return how the tuned SVDD and the refined detector compare on held-out labels, in a line."""
    metric = detectors.svdd.metric
    text = (
        f"{metric} on held-out labels: SVDD {figure(detectors.svdd.value, 2)}, "
        f"refined {figure(detectors.refined.value, 2)}"
    )
    if detectors.better:
        name = {"svdd": "the SVDD", "refined": "the refined detector"}[detectors.better]
        return f"{text}; {name} is better"
    return f"{text}; {detectors.labels} labels do not tell which is better"
