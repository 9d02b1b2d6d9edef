"""Compute a piece of work: a set and parameters in, a plain record out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from svddtune.evaluation.ablation import ablation
from svddtune.evaluation.aside import aside_session
from svddtune.evaluation.competitors.measure import competitors
from svddtune.evaluation.curves import alignments, neighbors
from svddtune.evaluation.kinds import unseen_kinds
from svddtune.evaluation.labelers import labelled
from svddtune.evaluation.large_session import isolation_forest, large_session
from svddtune.evaluation.lattices import candidate
from svddtune.evaluation.outlook_sessions import outlook_session
from svddtune.evaluation.sessions import atlas_session, cold_starts, session
from svddtune.evaluation.store import Record
from svddtune.evaluation.table_methods import columns, cross_validation, dfn_sample, rule
from svddtune.evaluation.task import Task, task_of
from svddtune.evaluation.units import Unit
from svddtune.numerics import score


def compute(unit: Unit, *, folder: Path) -> Record:
    """Compute a piece of work. Its record has the seconds it took; atlases stay in `folder`."""
    task = task_of(unit, folder)
    started = time.process_time()
    record = KINDS[unit.kind](task)
    record["seconds"] = time.process_time() - started
    return record


def atlas(task: Task) -> Record:
    """Fit the atlas, so that it is there when sessions begin."""
    made = task.atlas
    if made.covered is not None:  # verdicts of all cells on all rows would take longer than fits
        return {"cells": len(made), "best_kappa": None}
    kappas = score(
        task.y, np.array([made.outside(c) for c in range(len(made))]) * np.int8(-2) + np.int8(1)
    )
    return {"cells": len(made), "best_kappa": float(kappas.max())}


KINDS: dict[str, Callable[[Task], Record]] = {
    "atlas": atlas,
    "session": session,
    "atlas_session": atlas_session,
    "aside_session": aside_session,
    "unseen_kinds": unseen_kinds,
    "large_session": large_session,
    "isolation_forest": isolation_forest,
    "outlook_session": outlook_session,
    "cold_starts": cold_starts,
    "labelled": labelled,
    "competitors": competitors,
    "candidate": candidate,
    "columns": columns,
    "dfn_sample": dfn_sample,
    "rule": rule,
    "cross_validation": cross_validation,
    "neighbors": neighbors,
    "alignments": alignments,
    "ablation": ablation,
}
