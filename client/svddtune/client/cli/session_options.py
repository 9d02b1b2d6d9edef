"""Options of a command for the settings of a session, made from their table."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
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
            _check(settings)
            command(**given, settings=settings)

        return with_options(command, run, instead_of="settings", options=map(_option, rows))

    return decorate


_METAVARS = {"visible_features": "FEATURE", "adjudicators": "LABELER", "required_tags": "TAG"}


def _option(setting: Setting) -> inspect.Parameter:
    flag = isinstance(setting.default, bool)
    kind: Any = tuple[float, float] if setting.is_pair else type(setting.default)
    if setting.default is None and not setting.is_pair:
        kind = float
    if setting.is_list:
        kind = list[str]
    # (A session that copies another's settings may turn each of them on or off.)
    off = setting.option.replace("--", "/--no-", 1) if flag else ""
    option = typer.Option(
        setting.option + off,
        help=setting.help if flag else _text(setting),
        metavar="LOW HIGH" if setting.is_pair else _METAVARS.get(setting.name),
        rich_help_panel="Settings of the session",
    )
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


def _text(setting: Setting) -> str:
    return f"{setting.text} Give it once for each." if setting.is_list else setting.text


def _check(settings: dict[str, Any]) -> None:
    try:
        checked(SessionConfig(**settings))
    except InvalidConfig as error:
        faults = " ".join(one.about(one.setting.option) for one in error.violations)
        raise UsageError(faults) from None
