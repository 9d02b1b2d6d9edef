"""Spoils valid inputs at random: the same seed gives the same inputs."""

import random
from collections.abc import Sequence

# What parsers treat specially.
_PIECES = (
    b"\0", b"\n", b"\r", b'"', b"'", b",", b";", b"\t", b"{", b"}", b"[", b"]", b":", b"\\", b"=",
    b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"nan", b"inf", b"-0", b"1e999", b"null", b"true",
    b"9" * 30, b"?", b"%", b"@data", b"../", b"\xed\xa0\x80", b"[" * 2000, b"0001-01-01T00:00:00Z",
    b"9999-12-31T23:59:59Z", b"whsec_",
)  # fmt: skip


class Mutator:
    """Makes inputs from seeds by cutting, repeating, joining and changing bytes."""

    def __init__(self, seed: int, seeds: Sequence[bytes]) -> None:
        self._chance = random.Random(seed)
        self._seeds = seeds

    def next(self) -> bytes:
        """One more input."""
        chance = self._chance
        data = bytearray(chance.choice(self._seeds))
        for _ in range(chance.randint(1, 6)):
            at = chance.randint(0, len(data))
            end = min(len(data), at + chance.randint(0, 12))
            match chance.randrange(6):
                case 0:
                    del data[at:end]
                case 1:
                    data[at:at] = data[at:end] * chance.randint(1, 3)
                case 2:
                    data[at:end] = chance.choice(_PIECES)
                case 3:
                    data[at:at] = chance.randbytes(chance.randint(1, 4))
                case 4:
                    other = chance.choice(self._seeds)
                    data[at:] = other[chance.randint(0, len(other)) :]
                case _ if data:
                    data[at % len(data)] ^= 1 << chance.randrange(8)
        return bytes(data)
