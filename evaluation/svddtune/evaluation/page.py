"""The page of the evaluation. Each command writes its part and keeps the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

TITLE = "# Evaluation"
PARTS = (
    "paper",
    "further",
    "competitors",
    "unseen",
    "large",
    "choose",
    "outlook",
    "ablations",
    "noise",
    "parallel",
)
"""Parts in the order of the page, named like the command that writes them."""

_PART = re.compile(r"<!-- bench (\w+) -->\n(.*?)\n<!-- end of bench \1 -->", re.DOTALL)


def fill(name: str, **values: object) -> str:
    """Return the text of a part: the template of that name with values for its fields."""
    template = resources.files("svddtune.evaluation").joinpath(f"{name}.md").read_text("utf-8")
    return template.format(**values)


def write_part(folder: Path, name: str, text: str) -> Path:
    """Put a part into evaluation.md in a folder; return the page's path.

    Parameters
    ----------
    folder : Path
        Made where it is not there.
    name : str
        Of `PARTS`.
    text : str
        Markdown.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "evaluation.md"
    parts = _read(path) | {name: text.strip()}
    blocks = [
        f"<!-- bench {one} -->\n{parts[one]}\n<!-- end of bench {one} -->"
        for one in PARTS
        if one in parts
    ]
    path.write_text("\n\n".join((TITLE, *blocks)) + "\n", encoding="utf-8")
    return path


def pictures(made: Mapping[str, Path], texts: Mapping[str, str], command: str) -> dict[str, str]:
    """Name -> Markdown of a picture with caption and command; empty if it was not drawn."""
    return {
        name: f"![{text}](evaluation/{made[name].name})\n\n*{text}* (`{command}`)\n"
        if name in made
        else ""
        for name, text in texts.items()
    }


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    return dict(_PART.findall(path.read_text(encoding="utf-8")))
