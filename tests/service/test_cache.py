"""The cache keeps what was used last, up to a weight."""

from svddtune.service.cache import Lru


def test_oldest_entries_go_when_the_weight_is_exceeded() -> None:
    kept: Lru[str, bytes] = Lru(10, len)
    for name, size in (("a", 4), ("b", 4), ("c", 2)):
        kept.put(name, bytes(size))
    assert kept.get("a") is not None
    kept.put("d", bytes(3))
    assert [kept.get(name) is not None for name in "abcd"] == [True, False, True, True]


def test_entry_that_is_put_again_weighs_once() -> None:
    kept: Lru[str, bytes] = Lru(10, len)
    for size in (6, 4, 8):
        kept.put("a", bytes(size))
    kept.put("b", bytes(2))
    assert kept.get("a") == bytes(8)
    assert kept.get("b") == bytes(2)


def test_entry_that_is_too_heavy_is_returned_and_not_kept() -> None:
    kept: Lru[str, bytes] = Lru(10, len)
    assert kept.put("a", bytes(11)) == bytes(11)
    assert kept.get("a") is None
    kept.put("b", bytes(10))
    assert kept.get("b") is not None


def test_entries_weigh_one_by_default() -> None:
    kept: Lru[int, int] = Lru(2)
    for number in range(3):
        kept.put(number, number + 1)
    assert [kept.get(number) for number in range(3)] == [None, 2, 3]
