"""What a session costs a worker until its first question, estimated from the size of its data.

Service, client and command line share these figures. The constants were chosen by hand to agree
with what ``benchmarks/bench_cost.py`` measures on generated data. Data of the same size differ by
a factor of about two: the solver needs more iterations on some than on others.
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_MEMORY_MIB = 4096
"""Memory that a worker may use unless it is told otherwise, in MiB."""

SAMPLED_ABOVE = 5000
"""Rows up to which the atlas is fitted on all of them."""

# A worker at rest, and what a session adds that does not depend on its size.
_PROCESS_BYTES = 200 << 20
_START_S = 0.5
# Parts of an atlas, with several representations of the columns and with one.
_SEVERAL_PARTS, _PARTS = 60, 21
# A part of the atlas: fixed, for a row, for a pair of rows, and for a pair and column.
_PART_S, _PART_PAIR_S, _PART_COLUMN_S = 0.02, 6e-8, 1e-10
# A part of the atlas of more rows, which is fitted on a sample and judges a panel: fixed, and for a
# column.
_SAMPLED_PART_S, _SAMPLED_COLUMN_S = 0.6, 0.004
# Rows that the cells are fitted on, and that take part in the preparation then.
_SAMPLE_ROWS, _PANEL_ROWS = 2048, 4096
# Reading and measuring a value.
_VALUE_S = 2e-7
# A pair of rows of a preparation.
_PREPARED_PAIR_S = 4e-8
# Copies of the rows up to `SAMPLED_ABOVE`, and above: as they arrive and as they are kept.
_COPIES, _SAMPLED_COPIES = 5, 2.5
# Matrices of pairs of rows that are held at once, of 8 bytes an entry.
_MATRICES = 4


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a session is expected to cost; a factor of two either way is usual.

    `seconds` is the processor time of workers until the first question: with one free worker it is
    the time to wait, with more it is less. `memory_bytes` is the peak memory of a worker process.
    """

    seconds: float
    memory_bytes: int

    def __str__(self) -> str:
        return f"about {duration(self.seconds)}, {size(self.memory_bytes)}"


def estimate(rows: int, features: int, *, several: bool, atlas: bool) -> CostEstimate:
    """Estimate what a session costs until its first question.

    Parameters
    ----------
    rows, features : int
        Size of the dataset, both at least 1.
    several : bool
        The labels choose among several representations of the columns: scaling "auto".
    atlas : bool
        The strategy needs the atlas before its first question.

    Returns
    -------
    CostEstimate
    """
    sampled = rows > SAMPLED_ABOVE
    prepared = min(rows, _PANEL_ROWS) if atlas and sampled else rows
    seconds = _START_S + _VALUE_S * rows * features + _PREPARED_PAIR_S * prepared**2
    parts = _SEVERAL_PARTS if several else _PARTS
    if sampled:
        part_s = _SAMPLED_PART_S + _SAMPLED_COLUMN_S * features
    else:
        part_s = _PART_S + (_PART_PAIR_S + _PART_COLUMN_S * features) * rows**2
    # (The atlas is made for every session; with another strategy it comes after the question.)
    seconds += parts * part_s if atlas else 0.0
    copies = _SAMPLED_COPIES if sampled else _COPIES
    pairs = (_SAMPLE_ROWS if atlas and sampled else min(rows, SAMPLED_ABOVE)) ** 2
    memory = _PROCESS_BYTES + 8 * (copies * rows * features + _MATRICES * pairs)
    return CostEstimate(seconds, round(memory))


def duration(seconds: float) -> str:
    """Show a duration for people: "40 s", "3 min", "2.5 h"."""
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    if seconds < 7200:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def size(count: int) -> str:
    """Show a number of bytes for people: "310 MiB", "1.2 GiB"."""
    mib = count / 2**20
    return f"{mib:.0f} MiB" if mib < 1024 else f"{mib / 1024:.1f} GiB"
