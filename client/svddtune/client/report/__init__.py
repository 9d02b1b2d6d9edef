"""The report on a session: one HTML file that needs nothing else.

`gather` fetches what it tells, `drawn` draws its pictures, `page` makes the HTML. All work for a
session in any state.
"""

from svddtune.client.report.contents import Contents, gather
from svddtune.client.report.drawings import Drawing, drawn
from svddtune.client.report.render import page

__all__ = ["Contents", "Drawing", "drawn", "gather", "page"]
