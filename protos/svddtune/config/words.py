"""Enums of the wire contract as the words that people write: QUERY_STRATEGY_LAMA is "lama"."""

from google.protobuf.descriptor import EnumDescriptor


def words(enum: EnumDescriptor) -> dict[str, int]:
    """Return an enum's numbers by word, in the order of the contract, without UNSPECIFIED.

    The names of an enum's values begin with what its UNSPECIFIED value begins with.
    """
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {one.name.removeprefix(prefix).lower(): one.number for one in enum.values if one.number}


def word_of(enum: EnumDescriptor, number: int) -> str:
    """Return the word of a number; the number itself where the contract has none for it."""
    return next((word for word, known in words(enum).items() if known == number), str(number))
