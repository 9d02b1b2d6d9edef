"""``svddtune session``: a session from its creation to its end."""

from __future__ import annotations

import typer

from svddtune.client.cli.session import agreement, creation, labels, listing, steering

session = typer.Typer(
    help="Create, list, show, steer and delete the sessions of a service.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

session.command("create")(creation.create)
session.command("list")(listing.list_)
session.command("show")(listing.show)
session.command("update")(steering.update)
session.command("pause")(steering.pause)
session.command("resume")(steering.resume)
session.command("finish")(steering.finish)
session.command("cancel")(steering.cancel)
session.command("delete")(steering.delete)
session.command("labels")(labels.labels)
session.command("agreement")(agreement.agreement)
session.command("reopen")(steering.reopen)
session.command("clone")(creation.clone)
