"""Generate the blocking client from the asyncio client.

Change the asyncio client and run this, or ``make format``. Three modules of the two clients differ
in ``async``, ``await`` and the names below only. The connection and the stream of a dialogue differ
in more, because one client has threads and the other has tasks; they are written by hand twice.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = Path("client", "svddtune", "client")
# Source -> generated.
MODULES = {
    PACKAGE / "aio" / "client.py": PACKAGE / "client.py",
    PACKAGE / "aio" / "sessions.py": PACKAGE / "wire" / "sessions.py",
    PACKAGE / "aio" / "tuning.py": PACKAGE / "tuning.py",
}
# Applied in this order to code and docstrings, because docstrings hold examples.
REPLACEMENTS = {
    # The blocking client has a property here; the asyncio client cannot await one.
    r"    async def session\(self\)": "    @property\n    def session(self)",
    r"\b(async|await) ": "",
    r"\b__a(enter|exit)__\b": r"__\1__",
    r"\baclosing\b": "closing",
    r"\bAsyncGenerator\[(\w+), None\]": r"Generator[\1, None, None]",
    r"\bAsync([A-Z]\w+)": r"\1",
    r"\bsvddtune\.client\.aio\.(connection|sessions)\b": r"svddtune.client.wire.\1",
    r"\bsvddtune\.client\.aio\.stream\b": "svddtune.client.dialogue.stream",
    r"\bsvddtune\.client\.aio\.tuning\b": "svddtune.client.tuning",
    r"\bfrom asyncio import Future\b": "from concurrent.futures import Future",
}


def generate(out: Path) -> None:
    """Write the generated modules below `out`."""
    for source, target in MODULES.items():
        text = (ROOT / source).read_text()
        for pattern, replacement in REPLACEMENTS.items():
            text = re.sub(pattern, replacement, text)
        text = f"# Generated from {source.as_posix()} by tools/generate_sync.py.\n{text}"
        # A loop or comprehension without "async" may have a shorter form: C416, UP028.
        tidy = ["check", "--select", "C416,I,UP028", "--fix", "--unsafe-fixes", "--quiet"]
        for command in (tidy, ["format"]):
            ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(target), "-"]
            text = subprocess.run(
                ruff, cwd=ROOT, input=text, capture_output=True, text=True, check=True
            ).stdout
        written = out / target
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
