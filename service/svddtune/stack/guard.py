"""Runs a command that shall not outlive the process that asked for it, however that one ends.

Used as a script: ``python -I -S guard.py PARENT COMMAND ...``. On Linux the kernel is told to kill
the command with its parent and the command takes this process's place; elsewhere this process stays
and watches.
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
    """The command that runs ``command`` for as long as this process lives, at most."""
    return [sys.executable, "-I", "-S", str(Path(__file__)), str(os.getpid()), *command]


def _run(parent: int, command: list[str]) -> int:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # The parent may have ended before the kernel was told.
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
