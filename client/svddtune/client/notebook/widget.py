"""The widget in which a person labels, and an oracle that asks there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets
from IPython.display import display

from svddtune.client.errors import Unavailable
from svddtune.client.inputs.labeler_name import default_labeler
from svddtune.client.notebook import picture
from svddtune.client.notebook.labeling import Labeling
from svddtune.client.notebook.single_query import ask
from svddtune.client.oracles.answers import Answer, Command
from svddtune.client.types import Query, Session

if TYPE_CHECKING:
    from svddtune.client.client import TuningClient

_FOLDER = Path(__file__).parent
_SEEN_WITHIN_S = 10.0
# A sign may be lost on its way: a browser that has just drawn may not know yet where to send it.
_SIGN_EVERY_S = 0.5

Press = Callable[[Mapping[str, object]], None]


class LabelingWidget(anywidget.AnyWidget):
    """Shows one question at a time, with buttons and keys: i inlier, o outlier, u unsure, s skip.

    z undoes, q stops. `label` and `label_and_tune` make it; as the last line of a cell it is shown.

    Attributes
    ----------
    shown : dict
        What there is to see: plain values, made anew with each change.
    finishes : bool
        Whether the result can be asked for with the labels so far.
    asked_for_sign : int
        How often a sign of the browser was asked for.
    """

    _esm = _FOLDER / "label.js"
    _css = _FOLDER / "label.css"
    shown = traitlets.Dict().tag(sync=True)
    finishes = traitlets.Bool(False).tag(sync=True)
    asked_for_sign = traitlets.Int(0).tag(sync=True)

    def __init__(self, sentence: str = "Connecting ...", *, finishes: bool = False) -> None:
        super().__init__(shown=picture.start(sentence), finishes=finishes)
        self._seen = threading.Event()
        self._displayed = False
        self._take: Press = lambda _: None
        self.on_msg(self._heard)
        _let_browser_choose_thread(self.comm)

    def __repr__(self) -> str:
        question = self.shown.get("question") or {}
        now = question.get("heading") or self.shown.get("waiting") or "ended"
        return f"<LabelingWidget: {now[:80]}>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        self._displayed = True
        return super()._repr_mimebundle_(**options)

    def press(self, word: str) -> None:
        """Do what a button does, from a program.

        Parameters
        ----------
        word : str
            "inlier", "outlier", "probably inlier", "probably outlier", "unsure", "undo", "later",
            "others", "drop", "yes" (drop it), "finish" or "quit".
        """
        self._take({"do": word})

    def goes_to(self, take: Press) -> None:
        """Hand presses to `take` from now on."""
        self._take = take

    def show(self, shown: picture.Picture) -> None:
        """Show a picture."""
        self.shown = shown

    def wait(self, sentence: str) -> None:
        """Show that there is no question, and why."""
        self.shown = picture.start(sentence)

    def end(self, lines: Sequence[str]) -> None:
        """Show that nothing more is asked, and what came of it."""
        self.goes_to(lambda _: None)
        self.shown = picture.end(self.shown, lines)

    def wait_seen(self, timeout_s: float) -> bool:
        """Return whether a browser shows it and presses arrive, after at most `timeout_s` s.

        A widget that no cell shows yet is shown by the cell that runs.
        """
        if not self._displayed:
            display(self)  # type: ignore[no-untyped-call]
        self._seen.clear()
        until = time.monotonic() + timeout_s
        while (left := until - time.monotonic()) > 0:
            self.asked_for_sign += 1
            if self._seen.wait(min(left, _SIGN_EVERY_S)):
                return True
        return False

    def _heard(self, _widget: object, content: object, _buffers: object) -> None:
        self._seen.set()
        if isinstance(content, Mapping):
            self._take(content)


def _let_browser_choose_thread(comm: Any) -> None:
    """Let a widget's messages go to the thread of the kernel that the browser names.

    JupyterLab names one that runs beside the cells. ipykernel 7.4 overrules it: it sends a message
    to the thread that last wrote to the widget, thus behind the cell that asks and waits for it.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _data, named: named


class WidgetOracle:
    """An oracle that asks a person in this notebook, while the cell of ``tune(X, oracle)`` waits.

    The notebook must deliver presses while a cell runs, as JupyterLab 4.4 does with ipykernel 7.
    Where it does not, the call fails after `wait_seen_s`; `label_and_tune` works in all notebooks.

    Parameters
    ----------
    widget : LabelingWidget, optional
        Where to ask; default a new one.
    wait_seen_s : float or None
        Seconds to wait for a sign of the browser; default 10. None does not wait, for an oracle
        that asks beside the cells.

    Attributes
    ----------
    widget : LabelingWidget
        Where it asks.
    labeler : str
        The user's name on this machine: who labels where nobody says who.
    """

    def __init__(
        self, widget: LabelingWidget | None = None, *, wait_seen_s: float | None = _SEEN_WITHIN_S
    ) -> None:
        self.widget = widget or LabelingWidget("Run tune(X, oracle) to be asked here.")
        self.widget.finishes = True
        self.labeler = default_labeler()
        self._wait_seen_s = wait_seen_s

    def __repr__(self) -> str:
        return f"WidgetOracle({self.widget!r})"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget's, for a notebook."""
        return self.widget._repr_mimebundle_(**options)

    def __call__(self, query: Query) -> Answer:
        """Show one query and return what the person says."""
        self._check_seen()
        return ask(query, self.widget.show, self.widget.goes_to)

    def label_session(
        self, client: TuningClient, session: Session, *, labeler: str, resume_token: str
    ) -> Command | None:
        """Label a session until it asks no more; return Command.STOP for the result now.

        Parameters
        ----------
        client : TuningClient
            Connected to the session's service.
        session : Session
            What is labelled.
        labeler : str
            Who labels.
        resume_token : str
            Of an earlier dialogue of this labeler; empty for none.

        Raises
        ------
        Unavailable
            WIDGET_NOT_SEEN: no press can arrive.
        KeyboardInterrupt
            The person left.
        """
        self._check_seen()
        labeling = Labeling(
            client,
            session.name,
            labeler,
            self.widget.show,
            resume_token=resume_token,
            tags=session.config.required_tags,
        )
        self.widget.goes_to(labeling.press)
        controller = labeling.run()
        self.widget.end(["Nothing more is asked."])
        if controller.finished:
            return None
        if labeling.wants_result:
            return Command.STOP
        raise KeyboardInterrupt

    def _check_seen(self) -> None:
        """Fail rather than wait for presses that cannot arrive."""
        if self._wait_seen_s is not None and not self.widget.wait_seen(self._wait_seen_s):
            raise Unavailable(
                "No press arrives: the widget is shown nowhere, or this notebook delivers nothing "
                "while a cell runs. Use label_and_tune(X) of svddtune.client.notebook, which "
                "returns at once",
                reason="WIDGET_NOT_SEEN",
            )
