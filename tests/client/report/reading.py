"""Reads a report as a strict reader of HTML does."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "br"}
# Nobody asks for the text of these, which is long.
_OUTER = {"html", "body", "main", "section", "div", "table", "thead", "tbody"}


@dataclass
class Element:
    """An element with its text, that of the elements in it included; outer ones have none."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    inside: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    """Keeps all elements; refuses tags that are not closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        element = Element(tag, {name: value or "" for name, value in attrs})
        element.inside = [outer.tag for outer in self.open]
        self.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)
        elif tag == "br":
            self.handle_data(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            if element.tag not in _OUTER:
                element.text += data


def read(text: str) -> list[Element]:
    """The elements of a page, in order."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader.elements


def of(elements: list[Element], tag: str) -> list[Element]:
    """Those with this tag."""
    return [element for element in elements if element.tag == tag]


def table(elements: list[Element], caption: str) -> list[list[str]]:
    """The cells of the rows of the table whose caption begins so."""
    rows: list[list[str]] = []
    inside = False
    for element in elements:
        if element.tag == "caption":
            inside = element.text.startswith(caption)
        elif inside and element.tag == "tr":
            rows.append([])
        elif inside and element.tag in ("td", "th"):
            rows[-1].append(" ".join(element.text.split()))
    assert rows, caption
    return rows


def facts(elements: list[Element], caption: str) -> dict[str, str]:
    """A table of two columns as a mapping."""
    return {row[0]: row[1] for row in table(elements, caption)}
