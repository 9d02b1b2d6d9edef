"""Arguments and options by which commands name sessions and datasets, and describe them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from svddtune.client.cli.completion import complete_dataset, complete_session

SessionName = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Id, start of the id, or name of the session.",
        autocompletion=complete_session,
    ),
]
DatasetName = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Id, start of the id, or name of the dataset.",
        autocompletion=complete_dataset,
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label", metavar="KEY=VALUE", help="For whoever manages it, e.g. team=fraud. Repeatable."
    ),
]
LabelFilter = Annotated[
    list[str] | None,
    typer.Option(
        "--label", metavar="KEY=VALUE", help="Only those with this label. Repeatable: with all."
    ),
]
NameFilter = Annotated[
    str, typer.Option("--name", metavar="TEXT", help="Only those whose name contains TEXT.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Etag = Annotated[
    str,
    typer.Option(
        metavar="ETAG", help="Etag that `show --json` printed: change nothing if it is another now."
    ),
]


def parse_labels(texts: Iterable[str]) -> dict[str, str]:
    """Return labels given as KEY=VALUE.

    Raises
    ------
    BadParameter
        For another form, or a key given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or key in found:
            raise typer.BadParameter(f"--label {text}: give KEY=VALUE, and each key once.")
        found[key] = value
    return found
