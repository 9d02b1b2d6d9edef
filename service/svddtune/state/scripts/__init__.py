"""The Lua scripts: one atomic change of state a file, its contract in the comment on top."""

from functools import cache
from importlib.resources import files

# In this order: each part uses those before it.
_LIB = ("base", "repeats", "jobs", "votes", "queries", "serving", "atlas", "lifecycle", "failures")

# Run twice in a row these have the effect and the reply of one run, by what they do: they keep
# receipts of their own, or they set what holds already. Of all others the reply is kept for a
# while, so that a call that is made again (because its reply was lost) finds it.
REPEATABLE = frozenset(
    {
        "answer",
        "expire",
        "extend",
        "lease",
        "park",
        "probe",
        "put_part",
        "renew",
        "retract",
        "upgrade_dataset",
        "upgrade_session",
    }
)


@cache
def source(name: str) -> str:
    """Text of a script with the shared part in front."""
    folder = files(__name__)
    lib = "\n".join(folder.joinpath(f"lib/{part}.lua").read_text() for part in _LIB)
    body = folder.joinpath(f"{name}.lua").read_text()
    if name in REPEATABLE:
        return f"{lib}\n{body}"
    return f"{lib}\nreturn once(function()\n{body}\nend)"


def names() -> list[str]:
    """All scripts."""
    return sorted(
        path.name.removesuffix(".lua")
        for path in files(__name__).iterdir()
        if path.name.endswith(".lua")
    )
