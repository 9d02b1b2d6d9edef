"""``CITATION.cff`` follows the schema of the Citation File Format."""

import subprocess
import sys
from pathlib import Path

from tests.prose import ROOT

TEXT = (ROOT / "CITATION.cff").read_text()
SCHEMA = ("--builtin-schema", "vendor.citation-file-format")


def check(path: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("check-jsonschema")
    return subprocess.run([program, *SCHEMA, path], capture_output=True, text=True)


def test_citation_follows_the_schema() -> None:
    done = check(ROOT / "CITATION.cff")
    assert done.returncode == 0, done.stdout


def test_wrong_citation_is_noticed(tmp_path: Path) -> None:
    wrong = tmp_path / "CITATION.cff"
    wrong.write_text(TEXT.replace("authors:", "writers:", 1))
    assert check(wrong).returncode == 1
