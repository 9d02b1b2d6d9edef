"""Options of a command for the settings of a session, made from their table."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Annotated, Any

import typer

from svddtune.client.cli.options import with_options
from svddtune.client.errors import UsageError
from svddtune.config import SETTINGS, InvalidConfig, SessionConfig, Setting, checked


def takes_settings(names: Collection[str] = tuple(SETTINGS)) -> Callable[[Any], Any]:
    """Give a command an option for each of the settings, instead of its parameter `settings`.

    The command gets `settings` as keyword arguments for `tune`: those that were given, checked.
    """
    rows = [SETTINGS[name] for name in SETTINGS if name in names]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            settings = {row.name: given.pop(row.name) for row in rows}
            settings = {name: value for name, value in settings.items() if value is not None}
            for row in rows:
                if row.is_map and row.name in settings:
                    settings[row.name] = parse_numbers(settings[row.name], row)
            _check(settings)
            command(**given, settings=settings)

        return with_options(command, run, instead_of="settings", options=map(_option, rows))

    return decorate


def parse_numbers(texts: Iterable[str], setting: Setting) -> dict[str, float]:
    """Return the value of a setting that is numbers by name, given as NAME=NUMBER; not checked.

    Raises
    ------
    UsageError
        For another form, or a name given twice.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            if name in found:
                raise ValueError
            found[name] = float(number)
        except ValueError:
            form = f"{METAVARS[setting.name]}, and each name once"
            raise UsageError(f"{setting.option} is {text!r}; allowed: {form}") from None
    return found


METAVARS = {
    "visible_features": "FEATURE",
    "adjudicators": "LABELER",
    "required_tags": "TAG",
    "trusts": "LABELER=PROBABILITY",
}


def _option(setting: Setting) -> inspect.Parameter:
    flag = isinstance(setting.default, bool)
    kind: Any = tuple[float, float] if setting.is_pair else type(setting.default)
    if setting.default is None and not setting.is_pair:
        kind = float
    if setting.is_list or setting.is_map:
        kind = list[str]
    # (A session that copies another's settings may turn each of them on or off.)
    off = setting.option.replace("--", "/--no-", 1) if flag else ""
    option = typer.Option(
        setting.option + off,
        help=setting.help if flag else _text(setting),
        metavar="LOW HIGH" if setting.is_pair else METAVARS.get(setting.name),
        rich_help_panel="Settings of the session",
    )
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


def _text(setting: Setting) -> str:
    once = " Give it once for each." if setting.is_list or setting.is_map else ""
    return setting.text + once


def _check(settings: dict[str, Any]) -> None:
    try:
        checked(SessionConfig(**settings))
    except InvalidConfig as error:
        faults = " ".join(one.about(one.setting.option) for one in error.violations)
        raise UsageError(faults) from None
