"""Pieces of work: inputs, cost, and the key under which a record is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources

from svddtune.evaluation.sets import BenchSet

Parameter = int | float | str
_COMPUTING = ("svddtune.numerics", "svddtune.numerics.label_free", "svddtune.evaluation.baselines")
_EVERY_KIND = ("compute.py", "sets.py", "task.py", "units.py", "variants.py")
_OWN = {
    "session": ("sessions.py",),
    "atlas_session": ("sessions.py",),
    "aside_session": ("aside.py",),
    "outlook_session": ("outlook_sessions.py",),
    "cold_starts": ("sessions.py",),
    "columns": ("table_methods.py",),
    "dfn_sample": ("table_methods.py",),
    "rule": ("table_methods.py",),
    "cross_validation": ("table_methods.py",),
    "neighbors": ("curves.py",),
    "alignments": ("curves.py",),
    "ablation": ("ablation.py",),
    "labelled": ("labelers.py",),
    "competitors": ("aside.py",),
    "candidate": ("lattices.py",),
    "unseen_kinds": ("aside.py", "kinds.py"),
    "large_session": ("large_session.py",),
    "isolation_forest": ("large_session.py",),
}
"""Kind -> modules that compute it, beside those of every kind."""
_REFINED = ("svddtune.numerics.refined", "svddtune.refined")
_OWN_PACKAGES = {
    "aside_session": _REFINED,
    "competitors": ("svddtune.evaluation.competitors", *_REFINED),
    "unseen_kinds": _REFINED,
    "large_session": _REFINED,
}
"""Kind -> packages that compute it, likewise."""
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_OWN_LIBRARIES = {"competitors": ("optuna", "scikit-activeml")}


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work on one set.

    Attributes
    ----------
    kind : str
        Names the function in `compute`.
    data : BenchSet
    parameters : tuple of (str, value)
        All that changes the answer, besides the data and the code.
    cost : float
        Expected seconds, to order the work and to tell the time left.
    what : str
        For people.
    """

    kind: str
    data: BenchSet
    parameters: tuple[tuple[str, Parameter], ...]
    cost: float
    what: str

    @property
    def key(self) -> str:
        """Digest of data, kind, parameters and code; it changes with any of them."""
        parts = [self.kind, self.data.digest, sorted(self.parameters), code_digest(self.kind)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def atlas(data: BenchSet, scaling: str = "auto", *, gammas: int = 0) -> Unit:
    """The atlas of a set, which sessions share; 0 gammas are the product's number."""
    cost = (1 + 3e-6 * data.N**2) * (3 if scaling == "auto" else 1)
    given = (("scaling", scaling), ("gammas", gammas))
    return Unit("atlas", data, given, cost, f"{data.name}: atlas, {scaling}")


@cache
def code_digest(kind: str) -> str:
    """Digest of the code and the versions that records of a kind depend on."""
    digest = hashlib.sha256()
    for name, version in versions(kind).items():
        digest.update(f"{name} {version}\n".encode())
    for package in _COMPUTING:
        digest.update(_sources(package))
    digest.update(_sources("svddtune.evaluation", (*_EVERY_KIND, *_OWN.get(kind, ()))))
    for package in _OWN_PACKAGES.get(kind, ()):
        digest.update(_sources(package))
    return digest.hexdigest()


def _sources(package: str, wanted: Sequence[str] | None = None) -> bytes:
    files = sorted(
        (item for item in resources.files(package).iterdir() if item.name.endswith(".py")),
        key=lambda item: item.name,
    )
    return b"".join(
        item.name.encode() + b"\n" + item.read_bytes()
        for item in files
        if wanted is None or item.name in wanted
    )


def versions(kind: str = "") -> dict[str, str]:
    """Versions of this package and of the libraries that compute, those of a kind included."""
    names = ("svddtune", *_LIBRARIES, *_OWN_LIBRARIES.get(kind, ()))
    return {name: metadata.version(name) for name in names}
