"""The Lua scripts: one atomic change of state a file, its contract in the comment on top."""

from functools import cache
from importlib.resources import files

# In this order: each part uses those before it.
_LIB = ("base", "jobs", "votes", "queries", "serving", "atlas", "lifecycle", "failures")


@cache
def source(name: str) -> str:
    """Text of a script with the shared part in front."""
    folder = files(__name__)
    parts = [f"lib/{part}" for part in _LIB] + [name]
    return "\n".join(folder.joinpath(f"{part}.lua").read_text() for part in parts)
