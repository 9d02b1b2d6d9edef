"""The packages that only the competitors need."""

from __future__ import annotations

from importlib.util import find_spec

from svddtune.client.errors import NotInstalled


def require(*modules: str) -> None:
    """Raise NotInstalled, with the command that installs them, where one of the modules is missing.

    Parameters
    ----------
    *modules : str
        Names to import.

    Raises
    ------
    NotInstalled
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise NotInstalled(
            f"The competitors need {', '.join(missing)}, which is not installed; "
            "install it with: pip install 'svddtune-evaluation[competitors]'",
            metadata={"module": missing[0], "extra": "competitors"},
        )
