"""``svddtune export``: writes a session's model to a file, and pictures."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from svddtune.client.cli.names import SessionName
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import print_json, say, tell

if TYPE_CHECKING:
    from svddtune.client.report import Contents


class ModelFormat(StrEnum):
    """Formats of a model file."""

    NPZ = "npz"
    ONNX = "onnx"


@on_service
def export(
    session: SessionName,
    out: Annotated[
        Path | None, typer.Option(help="Model file to write. Default: SESSION.npz or .onnx.")
    ] = None,
    format_: Annotated[
        ModelFormat,
        typer.Option(
            "--format", help="npz: arrays, for svddtune. onnx: a graph, for any ONNX runtime."
        ),
    ] = ModelFormat.NPZ,
    which: Annotated[
        Literal["svdd", "refined"],
        typer.Option(help="The detector of an ONNX file; an .npz file holds both."),
    ] = "svdd",
    pictures: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Also write the pictures of the report here, as PNG and SVG."
        ),
    ] = None,
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Write a session's model file, and show how to use it in Python."""
    from svddtune.client.cli.lookup import find_session
    from svddtune.client.report import gather, usage

    with service.connect() as client:
        name = find_session(client, service, session).name
        model = client.model(name)
        result = client.result(name)
        contents = None if pictures is None else gather(client, name)
    path = out or Path(f"{name.removeprefix('sessions/')}.{format_.value}")
    if format_ is ModelFormat.ONNX:
        model.save_onnx(path, which=which)
    else:
        model.save(path)
    drawn = [] if contents is None or pictures is None else _draw(contents, pictures)
    if as_json:
        document = {"file": str(path), "format": format_.value, "pictures": drawn}
        print_json(document | {"result": result.to_dict()})
        return
    lines = usage.onnx_lines if format_ is ModelFormat.ONNX else usage.npz_lines
    tell(lines(str(path)))
    for file in (path, *drawn):
        say(f"Wrote {file}")


def _draw(contents: Contents, folder: Path) -> list[str]:
    """Write the pictures of a session, each as PNG and as SVG; return their paths."""
    from svddtune.client.report import drawn

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for drawing in drawn(contents):
        for suffix, data in ((".png", drawing.png), (".svg", drawing.svg.encode())):
            path = folder / f"{drawing.name}{suffix}"
            path.write_bytes(data)
            files.append(str(path))
    return files
