"""Which toolchains of other languages are here."""

import shutil
import subprocess
from functools import cache


@cache
def works(program: str) -> bool:
    """Return whether a program is on PATH and runs.

    (A proxy such as rustup's is found even where no toolchain is behind it.)
    """
    if shutil.which(program) is None:
        return False
    asked = "version" if program == "go" else "--version"
    return subprocess.run([program, asked], capture_output=True).returncode == 0
