"""Runs a command that ends with its parent process at the latest, however the parent ends.

Used as a script: ``python -I -S guard.py PARENT COMMAND ...``. On Linux, the script asks the kernel
to kill it with its parent and then replaces itself by the command. On other systems, it stays and
kills the command once the parent is gone.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.25


def guarded(command: list[str]) -> list[str]:
    """Return a command line that runs ``command`` and ends with this process at the latest."""
    return [sys.executable, "-I", "-S", str(Path(__file__)), str(os.getpid()), *command]


def _run(parent: int, command: list[str]) -> int:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # The parent may have ended before this call.
        if os.getppid() == parent:
            os.execv(command[0], command)
        return 1
    child = subprocess.Popen(command, close_fds=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: child.send_signal(received))
    while child.poll() is None:
        if os.getppid() != parent:
            child.kill()
        time.sleep(_LOOK_S)
    return child.returncode


if __name__ == "__main__":
    sys.exit(_run(int(sys.argv[1]), sys.argv[2:]))
