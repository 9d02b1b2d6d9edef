"""A signal ends a worker after its job, or in the middle of it when its grace is over."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable

from svddtune.state.errors import StoreUnavailable

log = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT)
# Time to tell the store. Otherwise the claim expires by itself.
TELL_S = 2.0


class Ending:
    """Waits for a signal in a thread of its own.

    Python runs signal handlers in the main thread only, and a computation may occupy that for long.
    So the interpreter writes to a socket when a signal comes, and this thread reads it. Create the
    object in the main thread.
    """

    def __init__(
        self,
        *,
        stop: Callable[[], None],
        ended: threading.Event,
        give_back: Callable[[], None],
        grace_s: float,
        at_last: Callable[[], None] = lambda: None,
    ) -> None:
        """``at_last`` is called before the process ends."""
        self._stop, self._ended, self._give_back = stop, ended, give_back
        self._grace_s = grace_s
        self._at_last = at_last
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in SIGNALS:
            # Nothing is left to do in the main thread, but without a handler a signal kills.
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._run, name="ending", daemon=True).start()

    def _run(self) -> None:
        number = self._reader.recv(1)[0]
        self._stop()
        if not self._ended.wait(self._grace_s):
            name = signal.Signals(number).name
            log.warning(
                "%s: the job takes longer than %g s and goes back to the queue", name, self._grace_s
            )
            telling = threading.Thread(target=self._tell, daemon=True)
            telling.start()
            telling.join(TELL_S)
        self._at_last()
        logging.shutdown()
        # Not sys.exit: the main thread may be in a computation that nothing else can end.
        os._exit(0)

    def _tell(self) -> None:
        try:
            self._give_back()
        except StoreUnavailable as error:
            log.warning("could not give the job back: %s", error.message)
