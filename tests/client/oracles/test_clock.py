import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import sized

from svddtune.client.oracles.clock import VirtualClock, WallClock

NEVER_S = 1000.0


def together(parties: int, run: Callable[[int], None], clock: WallClock) -> None:
    def party(i: int) -> None:
        try:
            run(i)
        finally:
            clock.leave(i)

    threads = [threading.Thread(target=party, args=(i,)) for i in range(parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(15)
        assert not thread.is_alive()


@settings(max_examples=sized(30))
@given(st.lists(st.lists(st.integers(0, 50), max_size=5), min_size=1, max_size=5))
def test_sleepers_go_on_in_the_order_of_their_ends(delays: list[list[int]]) -> None:
    clock = VirtualClock(len(delays), grace_s=NEVER_S)
    seen: list[tuple[float, int]] = []

    def run(i: int) -> None:
        for seconds in delays[i]:
            clock.sleep(i, seconds)
            seen.append((clock.now, i))

    together(len(delays), run, clock)
    expected = sorted(
        (float(sum(mine[: n + 1])), i) for i, mine in enumerate(delays) for n in range(len(mine))
    )
    # At equal times who slept 0 s goes on before those of higher numbers: times are what is sorted.
    assert [at for at, _ in seen] == [at for at, _ in expected]
    assert sorted(seen) == expected
    assert clock.now == max((at for at, _ in expected), default=0.0)


def test_time_stands_while_somebody_is_busy() -> None:
    clock = VirtualClock(2, grace_s=NEVER_S)
    order: list[str] = []
    asleep = threading.Event()

    def run(i: int) -> None:
        if i == 0:
            asleep.set()
            clock.sleep(0, 5.0)
            order.append("slept")
        else:
            asleep.wait(5)
            order.append("worked")

    together(2, run, clock)
    assert order == ["worked", "slept"]


def test_idle_waiter_delays_virtual_time_by_the_grace_alone() -> None:
    clock = VirtualClock(2, grace_s=0.2)
    came = threading.Event()

    def run(i: int) -> None:
        with clock.waiting(i):
            pass  # both get something at once
        if i == 0:
            clock.sleep(0, 100.0)
            came.set()
        else:
            with clock.waiting(1):
                assert came.wait(10)  # The other one goes on though this one still waits.

    together(2, run, clock)
    assert clock.now == 100.0


def test_nothing_happens_before_the_first_thing_came() -> None:
    clock = VirtualClock(2, grace_s=0.0)
    first = threading.Event()
    order: list[str] = []

    def run(i: int) -> None:
        if i == 0:
            with clock.waiting(0):
                first.wait(10)
                order.append("came")
        else:
            threading.Timer(0.1, first.set).start()
            clock.sleep(1, 1.0)
            order.append("slept")

    together(2, run, clock)
    assert order == ["came", "slept"]


@pytest.mark.parametrize("clock", [VirtualClock(2, grace_s=NEVER_S), WallClock(2)])
def test_stopped_clock_lets_all_go(clock: WallClock) -> None:
    def run(i: int) -> None:
        if i == 0:
            clock.sleep(0, NEVER_S)
        else:
            clock.stop()

    together(2, run, clock)


@pytest.mark.parametrize("clock", [VirtualClock(2), WallClock(2)])
def test_stalled_while_all_wait_and_only_then(clock: WallClock) -> None:
    with clock.waiting(0):
        assert clock.stalled_s() == 0.0
    with clock.waiting(0), clock.waiting(1):
        time.sleep(0.02)  # what is measured is that time goes by
        assert clock.stalled_s() >= 0.02
    assert clock.stalled_s() == 0.0
    clock.leave(1)
    with clock.waiting(0):
        time.sleep(0.02)
        assert clock.stalled_s() >= 0.02


def test_wall_clock_waits_and_begins_when_something_came() -> None:
    clock = WallClock(1)
    clock.sleep(0, 0.01)
    assert clock.now == 0.0
    with clock.waiting(0):
        pass
    before = clock.now
    clock.sleep(0, 0.05)
    assert clock.now - before >= 0.05


def test_the_outside_is_given_time_to_settle() -> None:
    clock = VirtualClock(1, settle_s=0.05)
    with clock.waiting(0):
        pass
    before = time.monotonic()
    clock.sleep(0, 7.0)
    assert clock.now == 7.0
    assert time.monotonic() - before >= 0.05
