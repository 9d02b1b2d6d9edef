"""Reads ARFF, described at https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/.

Read are dense and sparse rows, nominal values over several lines, weights of instances, comments
at the end of a line, values between blanks instead of commas, and escapes inside quotes, as Weka
reads them. Refused, with the line, are relational attributes, values that a nominal attribute does
not declare, and what can be read in two ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from svddtune.client.errors import InvalidInput
from svddtune.client.files.lines import Line, without_end
from svddtune.client.files.numbers import BLANKS, parse_number
from svddtune.client.files.source import Source

_NUMERIC = ("numeric", "real", "integer")
_TYPES = (*_NUMERIC, "string", "date")
_KEYWORD = re.compile(r"@([a-z]+)(?=\s|$)", re.IGNORECASE)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_ENDS = re.compile(r"[ \t,{}'\"%]")
_MISSING = ""


@dataclass(slots=True)
class Arff:
    """The content of a file. A missing value is empty; a quoted "?" is a value."""

    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    weighted: bool = False


@dataclass(frozen=True, slots=True)
class _Attribute:
    name: str
    kind: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Token:
    """A value, comma or brace; `follows` says whether blanks stood before it."""

    text: str
    quoted: bool = False

    def is_sign(self, sign: str) -> bool:
        return not self.quoted and self.text == sign

    @property
    def is_missing(self) -> bool:
        return self.is_sign("?")


class _LineFault(ValueError):
    pass


def read_arff(source: Source, lines: Iterable[Line]) -> Arff:
    """Return names and rows as text, with the line of each row.

    Raises
    ------
    InvalidInput
        The source's reason with the line; DATASET_EMPTY without data; DATASET_RAGGED for rows of
        different widths.
    """
    return _Reader(source).read(lines)


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._number = 0
        self._attributes: list[_Attribute] = []
        self._found = Arff()

    def read(self, lines: Iterable[Line]) -> Arff:
        numbered = self._counted(lines)
        try:
            for line in numbered:
                text = without_end(line).strip(BLANKS)
                if not text or text.startswith("%"):
                    continue
                keyword = _KEYWORD.match(text)
                word = keyword.group(1).lower() if keyword else ""
                if word == "relation":
                    continue
                if word == "data":
                    break
                if keyword is None or word != "attribute":
                    raise _LineFault(f"{text[:60]!r} is not allowed in the header of an ARFF file")
                self._attribute(text[keyword.end() :], numbered)
            else:
                raise InvalidInput(
                    f"{self._source.name} has no @data section", reason="DATASET_EMPTY"
                )
            if not self._attributes:
                raise _LineFault("there is no @attribute before @data")
            for line in numbered:
                text = without_end(line).strip(BLANKS)
                if text and not text.startswith("%"):
                    self._row(text)
        except _LineFault as fault:
            raise self._source.fault(str(fault), line=self._number) from None
        self._found.names = [attribute.name for attribute in self._attributes]
        return self._found

    def _counted(self, lines: Iterable[Line]) -> Iterator[str]:
        for number, line in lines:
            self._number = number
            yield line

    def _attribute(self, text: str, further: Iterator[str]) -> None:
        """Parse an attribute; its nominal values may continue on further lines."""
        tokens = _tokens(text)
        if not tokens or (not tokens[0].quoted and tokens[0].text in ("{", "}", ",")):
            raise _LineFault("an @attribute needs a name and a type")
        while not _is_whole(tokens):
            line = next(further, None)
            if line is None or line.lstrip(BLANKS).startswith("@"):
                raise _LineFault(f"attribute {tokens[0].text!r} has no type, or no closing brace")
            tokens += _tokens(without_end(line))
        name, kind = tokens[0].text, tokens[1]
        if kind.is_sign("{"):
            self._attributes.append(_Attribute(name, "nominal", _nominal(name, tokens[2:])))
            return
        word = kind.text.lower()
        if word == "relational":
            raise _LineFault(
                f"attribute {name!r} is relational, which is not supported: flatten it"
            )
        if kind.quoted or word not in _TYPES:
            raise _LineFault(
                f"attribute {name!r} has type {kind.text!r}; use {', '.join(_TYPES)} or nominal "
                f"values in braces"
            )
        rest = tokens[2:]
        if len(rest) > (1 if word == "date" else 0):
            raise _LineFault(f"{rest[-1].text!r} follows the type of attribute {name!r}")
        self._attributes.append(_Attribute(name, word))

    def _row(self, text: str) -> None:
        tokens = self._without_weight(_tokens(text))
        sparse = bool(tokens) and tokens[0].is_sign("{")
        self._found.rows.append(self._sparse(tokens) if sparse else self._dense(tokens))
        self._found.lines.append(self._number)

    def _without_weight(self, tokens: list[_Token]) -> list[_Token]:
        """Return the tokens of a row without the ``{WEIGHT}`` that may end it."""
        if len(tokens) < 4 or not (tokens[-1].is_sign("}") and tokens[-3].is_sign("{")):
            return tokens
        before = tokens[:-3]
        if before[-1].is_sign(","):
            before = before[:-1]
        weight = parse_number(tokens[-2].text)
        if weight is None:
            raise _LineFault(f"the weight {tokens[-2].text!r} is not a number")
        self._found.weighted = True
        return before

    def _dense(self, tokens: list[_Token]) -> list[str]:
        if any(token.is_sign("{") or token.is_sign("}") for token in tokens):
            raise _LineFault("a brace inside a row; put quotes around a value that contains one")
        cells: list[_Token] = []
        if any(token.is_sign(",") for token in tokens):
            empty = True
            for token in [*tokens, _Token(",")]:
                if token.is_sign(","):
                    if empty:
                        raise _LineFault(
                            f"value {len(cells) + 1} is empty; write ? for a missing value"
                        )
                    empty = True
                elif not empty:
                    raise _LineFault(
                        f"{cells[-1].text!r} and {token.text!r} are not separated by a comma; "
                        f"put quotes around a value that contains blanks"
                    )
                else:
                    cells.append(token)
                    empty = False
        else:
            cells = tokens
        if len(cells) != len(self._attributes):
            raise InvalidInput(
                f"{self._source.name} line {self._number} has {len(cells)} values; expected "
                f"{len(self._attributes)}",
                reason="DATASET_RAGGED",
                metadata={
                    "row": str(len(self._found.rows)),
                    "line": str(self._number),
                    "columns": str(len(cells)),
                    "expected": str(len(self._attributes)),
                },
            )
        return [
            self._value(attribute, token)
            for attribute, token in zip(self._attributes, cells, strict=True)
        ]

    def _sparse(self, tokens: list[_Token]) -> list[str]:
        if not tokens[-1].is_sign("}"):
            raise _LineFault("a sparse row without a closing brace")
        given: dict[int, str] = {}
        inner = [token for token in tokens[1:-1] if not token.is_sign(",")]
        if len(inner) % 2:
            raise _LineFault(
                "a part of a sparse row is not a pair of an attribute's number and its value"
            )
        for position, value in zip(inner[::2], inner[1::2], strict=True):
            if not position.text.isascii() or not position.text.isdigit():
                raise _LineFault(f"{position.text!r} is not the number of an attribute")
            index = int(position.text)
            if index >= len(self._attributes):
                raise _LineFault(
                    f"there is no attribute {index}: the {len(self._attributes)} "
                    f"attributes are counted from 0"
                )
            if index in given:
                raise _LineFault(f"attribute {index} occurs twice")
            given[index] = self._value(self._attributes[index], value)
        return [
            given[index] if index in given else _unwritten(attribute)
            for index, attribute in enumerate(self._attributes)
        ]

    def _value(self, attribute: _Attribute, token: _Token) -> str:
        if token.is_missing:
            return _MISSING
        if attribute.kind == "nominal" and token.text not in attribute.values:
            shown = ", ".join(attribute.values[:8]) + (", ..." if attribute.values[8:] else "")
            raise _LineFault(
                f"{token.text!r} is not one of the values of attribute {attribute.name!r}: {shown}"
            )
        return token.text


def _unwritten(attribute: _Attribute) -> str:
    """Return the value of an attribute that a sparse row omits: 0, or its first nominal value."""
    if attribute.kind in _NUMERIC:
        return "0"
    if attribute.kind == "nominal":
        return attribute.values[0]
    raise _LineFault(
        f"a sparse row must write attribute {attribute.name!r}, since a {attribute.kind} has no 0"
    )


def _is_whole(tokens: list[_Token]) -> bool:
    if len(tokens) < 2:
        return False
    return not tokens[1].is_sign("{") or any(token.is_sign("}") for token in tokens)


def _nominal(name: str, tokens: list[_Token]) -> tuple[str, ...]:
    end = next(i for i, token in enumerate(tokens) if token.is_sign("}"))
    if tokens[end + 1 :]:
        raise _LineFault(f"{tokens[end + 1].text!r} follows the values of attribute {name!r}")
    values = [token.text for token in tokens[:end] if not token.is_sign(",")]
    if not values:
        raise _LineFault(f"attribute {name!r} declares no values")
    if len(set(values)) < len(values):
        raise _LineFault(f"attribute {name!r} declares a value twice")
    return tuple(values)


def _tokens(text: str) -> list[_Token]:
    """Return the values and signs of a line without a comment at its end."""
    tokens: list[_Token] = []
    position = 0
    after_value = False
    while position < len(text):
        char = text[position]
        if char in BLANKS:
            position, after_value = position + 1, False
        elif char in ",{}":
            tokens.append(_Token(char))
            position, after_value = position + 1, False
        elif char == "%":
            if after_value:
                raise _LineFault(
                    "a % follows a value; put quotes around the value, or a blank between them"
                )
            break
        elif char in "'\"":
            if after_value:
                raise _LineFault(
                    f"a quote inside the value {tokens[-1].text!r}; put quotes "
                    f"around the whole value"
                )
            value, position = _quoted(text, position)
            tokens.append(_Token(value, quoted=True))
            after_value = True
        else:
            if after_value:
                raise _LineFault(f"{text[position]!r} follows a closing quote")
            end = _ENDS.search(text, position)
            stop = end.start() if end else len(text)
            tokens.append(_Token(text[position:stop]))
            position, after_value = stop, True
    return tokens


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Return the quoted value that begins at a position, and the position after it."""
    quote, pieces, position = text[start], list[str](), start + 1
    while position < len(text):
        char = text[position]
        if char == quote:
            return "".join(pieces), position + 1
        if char == "\\" and position + 1 < len(text):
            following = text[position + 1]
            pieces.append(_ESCAPES.get(following, following))
            position += 2
        else:
            pieces.append(char)
            position += 1
    raise _LineFault(f"the quote at character {start + 1} is not closed on its line")
