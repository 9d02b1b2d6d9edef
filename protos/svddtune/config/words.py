"""Enums of the wire contract as the words that people write: QUERY_STRATEGY_LAMA is "lama"."""

from functools import cache

from google.protobuf.descriptor import EnumDescriptor


def words(enum: EnumDescriptor) -> dict[str, int]:
    """Return an enum's numbers by word, in the order of the contract, without UNSPECIFIED.

    The names of an enum's values begin with what its UNSPECIFIED value begins with.
    """
    return dict(_words(enum))


def word_of(enum: EnumDescriptor, number: int) -> str:
    """Return the word of a number; the number itself where the contract has none for it."""
    return _words_by_number(enum).get(number, str(number))


def number_of(enum: EnumDescriptor, word: str) -> int:
    """Return the number of a word, in upper or lower case; raises KeyError if there is none."""
    return _words(enum)[word.lower()]


@cache
def _words(enum: EnumDescriptor) -> dict[str, int]:
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {one.name.removeprefix(prefix).lower(): one.number for one in enum.values if one.number}


@cache
def _words_by_number(enum: EnumDescriptor) -> dict[int, str]:
    return {number: word for word, number in _words(enum).items()}
