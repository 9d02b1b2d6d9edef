"""Write the settings of a session into ``config.proto`` and ``docs/settings.md``.

The table in `svddtune.config` says what there is; ``make protos`` writes both files anew.
"""

import re
import textwrap
from pathlib import Path

from svddtune.config import SETTINGS, Setting

ROOT = Path(__file__).parent.parent
CONTRACT = ROOT / "protos" / "svddtune" / "v1" / "config.proto"
PAGE = ROOT / "docs" / "settings.md"

_MESSAGE = re.compile(r"(?<=message SessionConfig \{\n).*?(?=^\})", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"  (?:optional |repeated )?(?:\w+|map<\w+, \w+>) (\w+) = \d+;")
_TABLE = re.compile(r"^\|.*\|$", re.DOTALL | re.MULTILINE)


def contract(text: str) -> str:
    """The text of the .proto file with the comments of the settings as the table has them."""
    first = {setting.wire[0]: setting for setting in SETTINGS.values()}
    lines: list[str] = []
    for line in _MESSAGE.findall(text)[0].splitlines():
        field = _FIELD.fullmatch(line)
        if field:
            setting = first.get(field[1])
            # (A setting of two fields is described at the first of them.)
            told = _comment(setting) if setting else f"See {_first_of(field[1])}."
            lines += textwrap.wrap(told, 100, initial_indent="  // ", subsequent_indent="  // ")
            lines.append(line)
    return _MESSAGE.sub("\n".join(lines) + "\n", text)


def page(text: str) -> str:
    """The text of the page with the table of the settings."""
    rows = ["| Python | `svddtune tune` | what | values | default |", "|---|---|---|---|---|"]
    rows += [
        f"| `{one.name}` | `{one.option}` | {one.help} | {one.allowed} | {one.default_text} |"
        for one in SETTINGS.values()
    ]
    return _TABLE.sub("\n".join(rows), text)


def _first_of(field: str) -> str:
    return next(one.wire[0] for one in SETTINGS.values() if field in one.wire)


def _comment(setting: Setting) -> str:
    if setting.enum is not None:
        return f"{setting.help} Default: {setting.default.upper()}."
    return setting.text


if __name__ == "__main__":
    CONTRACT.write_text(contract(CONTRACT.read_text()))
    PAGE.write_text(page(PAGE.read_text()))
