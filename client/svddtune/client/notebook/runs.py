"""Labelling and tuning beside the cells of a notebook: the calls return at once."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from svddtune.client.client import TuningClient
from svddtune.client.errors import PermissionDenied, SvddtuneError, Unavailable, WrongState
from svddtune.client.inputs.labeler_name import default_labeler
from svddtune.client.notebook.labeling import Labeling
from svddtune.client.notebook.widget import LabelingWidget, WidgetOracle
from svddtune.client.result import TuningResult
from svddtune.client.runs.asking import Progress
from svddtune.client.runs.interrupted import interruption
from svddtune.client.runs.tune import tune
from svddtune.client.terminal import messages
from svddtune.client.types import Session
from svddtune.client.wire.access import Access
from svddtune.client.wire.calls import name_of
from svddtune.client.wire.channel import DEFAULT_ADDRESS

_STOP_S = 5.0
_DOING = {
    "starting": "Starting a service of its own ...",
    "uploading": "Uploading the data ...",
    "preparing": "Preparing the first question ...",
    "estimating": "Computing the result ...",
}


class _Work:
    """What labels in a thread of its own, until it is stopped."""

    def __init__(self, widget: LabelingWidget, run: Callable[[], None]) -> None:
        self._widget = widget
        # (A kernel that ends must not wait for a person.)
        self.thread = threading.Thread(target=run, name="svddtune-notebook", daemon=True)

    def stop(self) -> None:
        """Give the question back, and wait a moment for that."""
        self._widget.press("quit")
        self.thread.join(_STOP_S)


# What labels now, by service, session and labeler: a cell that runs again takes the place of its
# former run, rather than hold a second question.
_at_work: dict[tuple[str, str, str], _Work] = {}


def label(
    session: str | Session | None = None,
    *,
    client: TuningClient | None = None,
    server: str = DEFAULT_ADDRESS,
    labeler: str = "",
    credit: int = 1,
) -> LabelingWidget:
    """Return a widget that asks the questions of a session; it goes on while other cells run.

    The question is given back when the person stops, when the cell runs again and when the kernel
    ends. Undo withdraws the vote.

    Parameters
    ----------
    session : Session or str, optional
        The session, or its resource name; default any session that asks.
    client : TuningClient, optional
        Connected to the service; it must stay open. Default a connection of its own to `server`.
    server : str
        HOST:PORT of the service.
    labeler : str
        Who labels; default the name that the credentials give, or the user's on this machine.
    credit : int
        Queries to hold at once; default 1.

    Raises
    ------
    NotFound
        SESSION_NOT_FOUND.
    """
    with ExitStack() as closing:
        if client is None:
            client = closing.enter_context(TuningClient(server))
        name = None if session is None else client.get_session(name_of(session)).name
        if not labeler and not client.server_info().caller:
            labeler = _own_name()
        widget = LabelingWidget()
        labeling = Labeling(client, name, labeler, widget.show, credit=credit)
        widget.goes_to(labeling.press)
        kept = closing.pop_all()

    def run() -> None:
        with kept:
            _label(client, labeling, widget)

    key = (client.address, name or "", labeler)
    if (former := _at_work.pop(key, None)) is not None:
        former.stop()
    work = _at_work[key] = _Work(widget, run)
    work.thread.start()
    return widget


def _label(client: TuningClient, labeling: Labeling, widget: LabelingWidget) -> None:
    try:
        controller = labeling.run()
        session = controller.status.session_name
        if not (controller.finished and session):
            widget.end(["Stopped; your answers are stored. Run the cell again to go on."])
            return
        reason = messages.REASONS.get(controller.finished, controller.finished)
        widget.end([f"Finished: {reason}. Computing the result ..."])
        done = client.wait_until_completed(session)
        lines = messages.headline(client.result(session), done.observation_count)
        widget.end([f"Finished: {reason}.", *lines])
    except PermissionDenied:  # who may label need not see what becomes of it
        widget.end(["Finished."])
    except SvddtuneError as error:
        widget.end([str(error)])


class Tuned:
    """A run of `tune` beside the cells, made by `label_and_tune`; shown, it is its widget.

    Attributes
    ----------
    widget : LabelingWidget
        Where the person labels.
    """

    def __init__(self, X: Any, options: dict[str, Any]) -> None:
        self.widget = LabelingWidget(_DOING["starting"])
        self._X, self._options = X, options
        self._stage = "starting"
        self._result: TuningResult | None = None
        self._error: BaseException | None = None
        self._work = _Work(self.widget, self._run)
        self._work.thread.start()

    def __repr__(self) -> str:
        return f"<Tuned: {'done' if self.done else self._stage}>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget's, for a notebook."""
        return self.widget._repr_mimebundle_(**options)

    @property
    def done(self) -> bool:
        """Whether the run has ended, with a result or with an error."""
        return not self._work.thread.is_alive()

    def result(self, *, timeout_s: float | None = None) -> TuningResult:
        """Return the result; waits for its computation, and for labels only if told to.

        Parameters
        ----------
        timeout_s : float, optional
            Seconds to wait at most, for labels too. Default: raise while labels are missing, since
            a cell that waits may keep presses from arriving.

        Raises
        ------
        WrongState
            LABELS_MISSING: the person is still labelling.
        Unavailable
            WAIT_TIMEOUT after `timeout_s`.
        BaseException
            What ended the run; `interruption` tells where the answers are.
        """
        if timeout_s is None and self._stage not in ("estimating", "done") and not self.done:
            raise WrongState(
                "The person is still labelling in the widget; run this cell again afterwards, or "
                'press "Compute the result now" there',
                reason="LABELS_MISSING",
            )
        self._work.thread.join(timeout_s)
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise Unavailable(f"No result within {timeout_s:g} s", reason="WAIT_TIMEOUT")
        return self._result

    def stop(self) -> None:
        """Stop asking; the answers are kept, see `interruption`."""
        self._work.stop()

    def _run(self) -> None:
        try:
            options: dict[str, Any] = {
                "human": True,
                "labeler": _own_name(),
                "on_progress": self._tell,
            }
            options |= self._options
            self._result = tune(self._X, WidgetOracle(self.widget, wait_seen_s=None), **options)
        except BaseException as error:
            self._error = error
            left = interruption(error)
            said = "Stopped." if isinstance(error, KeyboardInterrupt) else str(error)
            self.widget.end([said, left.note() if left else ""])
        else:
            found = self._result
            rows = found.dataset.observation_count
            self.widget.end(["Finished.", *messages.headline(found.result, rows)])

    def _tell(self, progress: Progress) -> None:
        self._stage = progress.stage
        if progress.stage in _DOING:
            share = f" ({progress.share:.0%})" if progress.share else ""
            self.widget.wait(_DOING[progress.stage] + share)


def label_and_tune(X: Any, **options: Any) -> Tuned:
    """Tune an SVDD on `X` by asking a person in this notebook; return at once.

    Show what it returns as the last line of a cell, label there, and take `Tuned.result` in
    another cell.

    Parameters
    ----------
    X : array-like or frame (N, M)
        As in `tune`.
    **options
        As in `tune`: ``budget=30``, ``display=...``, ``server=...``. Mistakes in them are shown in
        the widget and raised by `Tuned.result`.
    """
    return Tuned(X, options)


def _own_name() -> str:
    """Return the user's name on this machine; empty where credentials say who it is."""
    return "" if Access().names_caller else default_labeler()


@atexit.register
def _stop_all() -> None:
    """Give questions back when the kernel ends."""
    for work in list(_at_work.values()):
        if work.thread.is_alive():
            work.stop()
