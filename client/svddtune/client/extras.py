"""Errors for packages that are not installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

from svddtune.client.errors import NotInstalled

COMPLETE, CLIENT = "svddtune", "svddtune-client"


@contextmanager
def needs_extra(extra: str, use: str) -> Iterator[None]:
    """Import what comes with an extra.

    Parameters
    ----------
    extra : str
        The extra, as in ``svddtune[extra]`` or, where only the client is installed,
        ``svddtune-client[extra]``.
    use : str
        What the packages are for; the message starts with it.

    Raises
    ------
    NotInstalled
        Where one of them is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        distribution = COMPLETE if _is_installed(COMPLETE) else CLIENT
        raise NotInstalled(
            f"{use} needs {error.name}, which is not installed; "
            f"install it with: pip install '{distribution}[{extra}]'",
            metadata={"module": str(error.name), "extra": extra},
        ) from None


@contextmanager
def needs_package(package: str, use: str) -> Iterator[None]:
    """Import a package that a plain installation has, but not that of the client alone.

    Parameters
    ----------
    package : str
        Name to install it by.
    use : str
        What it is for; the message starts with it.

    Raises
    ------
    NotInstalled
        Where it is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"{use} needs {package}, which is not installed; install it with: "
            f"pip install {package}",
            metadata={"module": str(error.name)},
        ) from None


def check_complete() -> None:
    """Check that all packages of a plain installation are installed.

    There may be the client alone, or a part without the dependencies of the others.

    Raises
    ------
    NotInstalled
        With the names of the packages that are missing.
    """
    missing = [name for name in _required() if not _is_installed(name)]
    if missing:
        raise NotInstalled(
            f"A service on this machine needs {', '.join(missing)}, which is not installed; "
            f"install everything with: pip install {COMPLETE}",
            metadata={"packages": ",".join(missing)},
        )


def _required() -> list[str]:
    if not _is_installed(COMPLETE):
        return [COMPLETE]
    # Those with a marker are for an extra or for some platforms only.
    found = metadata.requires(COMPLETE) or []
    return [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in found if ";" not in text]


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
