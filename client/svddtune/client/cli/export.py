"""``svddtune export``: writes a session's model to a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from svddtune.client.cli.names import SessionName
from svddtune.client.cli.options import Json
from svddtune.client.cli.service import Service, on_service
from svddtune.client.terminal.output import print_json, say, tell


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
    *,
    service: Service,
    as_json: Json = False,
) -> None:
    """Write a session's model file, and show how to use it in Python."""
    from svddtune.client.cli.lookup import find_session

    with service.connect() as client:
        name = find_session(client, service, session).name
        model = client.model(name)
        result = client.result(name)
    path = out or Path(f"{name.removeprefix('sessions/')}.{format_.value}")
    if format_ is ModelFormat.ONNX:
        model.save_onnx(path, which=which)
    else:
        model.save(path)
    if as_json:
        print_json({"file": str(path), "format": format_.value, "result": result.to_dict()})
        return
    tell(usage_snippet(str(path), format_))
    say(f"Wrote {path}")


def usage_snippet(path: str, format_: ModelFormat) -> str:
    """Return Python that uses a model file."""
    lines = {
        ModelFormat.NPZ: (
            "from svddtune import SvddModel",
            f"model = SvddModel.load({path!r})",
            "labels = model.predict(X)   # +1 inlier, -1 outlier; needs numpy only",
            "pipeline = model.to_sklearn()   # a fitted scikit-learn Pipeline; decides alike",
        ),
        ModelFormat.ONNX: (
            "import onnxruntime",
            f"session = onnxruntime.InferenceSession({path!r})",
            "# X holds doubles, shape (n, M). Labels are +1 (inlier) and -1 (outlier).",
            'labels, scores = session.run(["label", "score"], {"X": X})',
        ),
    }
    return "\n".join(lines[format_])
