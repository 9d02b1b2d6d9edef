"""The vectors are those that the code makes now."""

import json
import subprocess
import sys
from pathlib import Path

from conformance import vectors

from svddtune.service.reasons import REASONS

GENERATE = Path(__file__).parents[2] / "tools" / "generate_vectors.py"


def test_vectors_are_current(tmp_path: Path) -> None:
    file = tmp_path / "vectors.json"
    subprocess.run([sys.executable, GENERATE, file], check=True)
    made = json.loads(file.read_text())["vectors"]
    assert made == vectors.load(), "run tools/generate_vectors.py"


def test_every_reason_has_a_vector() -> None:
    reasons = {vector["expected"].get("reason") for vector in vectors.load()}
    assert reasons >= REASONS.keys()
