"""How the commands show times, sizes and tables in 80 columns."""

from collections.abc import Iterable, Sequence

from svddtune.client.terminal.output import stdout

# Leading signs by which people tell ids apart.
_SHORT = 12


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on stdout; the last column takes the lines that it needs."""
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for name in header[:-1]:
        shown.add_column(name, no_wrap=True)
    shown.add_column(header[-1], overflow="fold")
    for row in rows:
        shown.add_row(*row)
    stdout().print(shown)


def age(ms: float | None) -> str:
    """A duration as people say it, in its largest unit: "3 min"; "-" for none."""
    if ms is None:
        return "-"
    seconds = max(0.0, ms / 1000)
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds:.0f} s"


def mebibytes(size: int | None) -> str:
    """A size as people say it; "-" for none."""
    return "-" if size is None else f"{size / (1 << 20):.0f} MiB"


def short(text: str) -> str:
    """The start of an id; "-" for none."""
    return text[:_SHORT] or "-"
