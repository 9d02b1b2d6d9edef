"""A person labels in a notebook: Jupyter, VS Code, Colab and whatever else shows widgets.

``picture.py`` says what is shown of a labeler's state, as plain values. ``labeling.py`` runs a
labeler's work: presses in, pictures out; the state is that of labelling at a terminal.
``widget.py`` carries both to the browser, where ``label.js`` draws; ``runs.py`` has the calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svddtune.client.notebook.runs import Tuned, label, label_and_tune
    from svddtune.client.notebook.widget import LabelingWidget, WidgetOracle

__all__ = ["LabelingWidget", "Tuned", "WidgetOracle", "label", "label_and_tune"]


if not TYPE_CHECKING:  # so that checkers know which names there are

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from svddtune.client.extras import needs_extra

        with needs_extra("notebook", "Labelling in a notebook"):
            from svddtune.client.notebook import runs, widget
        return getattr(widget if hasattr(widget, name) else runs, name)
