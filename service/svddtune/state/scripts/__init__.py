"""The Lua scripts: one atomic change of state a file, its contract in the comment on top."""

from functools import cache
from importlib.resources import files


@cache
def source(name: str) -> str:
    """Text of a script with the shared part in front."""
    folder = files(__name__)
    return f"{folder.joinpath('lib.lua').read_text()}\n{folder.joinpath(name + '.lua').read_text()}"
