"""Makes untrusted text safe to show, log and write.

Names, ids, notes and exports come from whoever uses the system. Shown as they are, they could steer
a terminal, forge lines of a log, run formulas in a spreadsheet, or give a password away.
"""

from svddtune.text.cells import formula_cell, without_formula_mark
from svddtune.text.secrets import redacted, url_fault
from svddtune.text.shown import on_one_line, printable, visible

__all__ = [
    "formula_cell",
    "on_one_line",
    "printable",
    "redacted",
    "url_fault",
    "visible",
    "without_formula_mark",
]
