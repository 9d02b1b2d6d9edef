"""How to use a session's model: commands and Python to paste."""

from __future__ import annotations

from collections.abc import Callable

Command = Callable[..., str]
"""Returns the command line with these words that reaches the service of the session."""


def npz_lines(path: str) -> str:
    """Return Python that uses an .npz model file."""
    return "\n".join(
        (
            "from svddtune import SvddModel",
            f"model = SvddModel.load({path!r})",
            "labels = model.predict(X)   # +1 inlier, -1 outlier; needs numpy only",
            "pipeline = model.to_sklearn()   # a fitted scikit-learn Pipeline; decides alike",
        )
    )


def onnx_lines(path: str) -> str:
    """Return Python that uses an .onnx model file."""
    return "\n".join(
        (
            "import onnxruntime",
            f"session = onnxruntime.InferenceSession({path!r})",
            "# X holds doubles, shape (n, M). Labels are +1 (inlier) and -1 (outlier).",
            'labels, scores = session.run(["label", "score"], {"X": X})',
        )
    )


def service_lines(server: str, session: str) -> str:
    """Return Python that lets the service judge rows by the latest model of a session."""
    return "\n".join(
        (
            "from svddtune import TuningClient",
            f"with TuningClient({server!r}) as client:",
            f"    scores = client.score({session!r}, X, reasons=3)",
            "scores.labels     # +1 inlier, -1 outlier",
            "scores.reasons    # the three most unusual features of each row",
        )
    )
