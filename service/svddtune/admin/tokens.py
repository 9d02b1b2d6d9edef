"""``svddtune token``: who may call a service, by tokens in a file that the service reads."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from svddtune.admin.tables import table
from svddtune.client.cli.options import Json
from svddtune.client.errors import InvalidInput, NotFound, UsageError
from svddtune.client.terminal.output import print_json, say
from svddtune.process import tokens
from svddtune.process.tokens import Token, TokenFileError
from svddtune.service.validate import is_labeler
from svddtune.state import projects

app = typer.Typer(
    no_args_is_help=True,
    help="Make, list and revoke the tokens that tell a service who calls.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_DAY_S = 86_400

File = Annotated[
    Path,
    typer.Option(
        "--tokens",
        envvar="SVDDTUNE_TOKENS",
        metavar="FILE",
        help="The file that the service has as --tokens.",
    ),
]


@app.command()
def create(
    name: Annotated[
        str, typer.Argument(help="Whose token it is; a labeler's name in the label log.")
    ],
    file: File,
    role: Annotated[str, typer.Option(help=f"One of {', '.join(tokens.ROLES)}.")] = "labeler",
    project: Annotated[
        str, typer.Option(help="The project whose sessions, datasets and models it reaches.")
    ] = projects.DEFAULT,
    days: Annotated[
        float | None, typer.Option(min=0, help="Days until it expires; never if not given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token, and show it: once, since the file has its hash only."""
    if not is_labeler(name):
        raise UsageError(f'NAME is {name!r}; it takes letters, digits and "._@-", 1 to 64 of them')
    if role not in tokens.ROLES:
        raise UsageError(f"--role is {role!r}; it must be one of {', '.join(tokens.ROLES)}")
    if not projects.is_name(project):
        raise UsageError(
            f'--project is {project!r}; it takes a-z, 0-9 and "._-", 1 to 63 of them, and begins '
            "with a letter or digit"
        )
    expires = None if days is None else int(time.time() + days * _DAY_S)
    try:
        token, text = tokens.create(file, name=name, project=project, role=role, expires=expires)
    except TokenFileError as error:
        raise _unusable(error) from error
    if as_json:
        print_json({**_to_dict(token), "token": text})
        return
    say(f"Token {token.id} of {name}, {role} of project {project}. It is shown only now:")
    print(text)


@app.command("list")
def list_tokens(file: File, as_json: Json = False) -> None:
    """Show whose tokens there are, without the tokens."""
    try:
        found = tokens.read(file).values()
    except TokenFileError as error:
        raise _unusable(error) from error
    if as_json:
        print_json({"tokens": [_to_dict(one) for one in found]})
        return
    header = ("id", "name", "project", "role", "expires")
    table(header, ((one.id, one.name, one.project, one.role, _end(one)) for one in found))


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="The id that `list` shows.")],
    file: File,
    as_json: Json = False,
) -> None:
    """Let a token prove nobody any more. The service notices with the next call."""
    try:
        token = tokens.revoke(file, token_id)
    except TokenFileError as error:
        raise _unusable(error) from error
    except KeyError:
        raise NotFound(
            f"There is no token {token_id!r} in {file}; see: svddtune token list",
            reason="TOKEN_NOT_FOUND",
            metadata={"token": token_id},
        ) from None
    if as_json:
        print_json({"revoked": _to_dict(token)})
        return
    say(f"Token {token.id} of {token.name} is revoked.")


def _unusable(error: TokenFileError) -> InvalidInput:
    return InvalidInput(str(error), reason="TOKEN_FILE_UNUSABLE")


def _to_dict(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "project": token.project,
        "role": token.role,
        "created": _time(token.created),
        "expires": None if token.expires is None else _time(token.expires),
    }


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _end(token: Token) -> str:
    if token.expires is None:
        return "never"
    return _time(token.expires) + (" (expired)" if token.expired(time.time()) else "")
