"""The paper's figures: mean Cohen's kappa over five repetitions, to two decimals.

Source: Trittenbach, Böhm, Assent, *Active Learning of SVDD Hyperparameter Values*, the table of
its section on benchmark data. None stands where the paper has "--".
"""

from __future__ import annotations

from collections.abc import Iterable

COLUMNS = (
    "lama",
    "lama_sample",
    "dfn_fix",
    "dfn_sample",
    "qms",
    "ads",
    "ads_ext",
    "upper_bound",
)

_UNDEFINED = None
PAPER: dict[str, tuple[float | None, ...]] = {
    "Annthyroid": (0.02, 0.03, 0.00, 0.00, 0.00, 0.00, 0.00, 0.04),
    "Cardiotocography": (0.25, 0.23, 0.00, 0.22, _UNDEFINED, 0.00, 0.00, 0.24),
    "Glass": (0.15, 0.09, 0.04, 0.03, _UNDEFINED, 0.00, 0.00, 0.25),
    "HeartDisease": (0.13, 0.10, 0.00, 0.10, 0.00, 0.00, -0.02, 0.13),
    "Hepatitis": (0.05, 0.15, 0.00, 0.16, 0.05, 0.08, 0.05, 0.21),
    "Ionosphere": (0.66, 0.66, 0.00, 0.55, _UNDEFINED, 0.59, 0.00, 0.78),
    "Lymphography": (0.47, 0.41, 0.47, 0.39, _UNDEFINED, 0.48, 0.48, 0.51),
    "PageBlocks": (0.42, 0.35, 0.10, 0.42, 0.00, 0.00, 0.00, 0.52),
    "Pima": (0.08, 0.16, 0.02, 0.07, 0.00, 0.00, 0.00, 0.14),
    "Shuttle": (0.06, 0.19, 0.13, 0.10, 0.00, 0.00, 0.00, 0.31),
    "SpamBase": (0.01, -0.01, 0.00, 0.01, 0.00, 0.00, 0.00, 0.04),
    "Stamps": (0.18, 0.17, 0.08, 0.18, 0.00, 0.00, 0.01, 0.21),
    "WBC": (0.53, 0.50, 0.53, 0.46, 0.00, 0.00, 0.45, 0.59),
    "WDBC": (0.38, 0.31, 0.34, 0.15, 0.00, 0.00, -0.01, 0.45),
    "WPBC": (0.01, 0.04, -0.03, 0.01, 0.00, -0.02, -0.05, 0.08),
    "Waveform": (0.05, 0.04, 0.00, 0.02, 0.00, 0.00, 0.04, 0.11),
}
"""Set -> kappa, in the order of `COLUMNS`."""

SETS = tuple(PAPER)


def published(name: str, method: str) -> float | None:
    """The paper's kappa of a method on a set; None where it has none."""
    if name not in PAPER or method not in COLUMNS:
        return None
    return PAPER[name][COLUMNS.index(method)]


def published_mean(names: Iterable[str], method: str) -> float | None:
    """Mean of the paper's kappa over the sets where it has one."""
    values = [value for name in names if (value := published(name, method)) is not None]
    return sum(values) / len(values) if values else None
