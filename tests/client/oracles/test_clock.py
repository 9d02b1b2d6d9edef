import threading
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
    clock = VirtualClock(len(delays), settled=lambda: True)
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


def test_virtual_time_stops_while_a_thread_is_busy() -> None:
    clock = VirtualClock(2, settled=lambda: True)
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


def test_idle_waiter_does_not_delay_virtual_time_once_the_service_has_settled() -> None:
    clock = VirtualClock(2, settled=lambda: True)
    slept = threading.Event()

    def run(i: int) -> None:
        if i == 0:
            clock.sleep(0, 100.0)
            slept.set()
        else:
            with clock.waiting(1):
                assert slept.wait(10)  # The other one goes on though this one still waits.

    together(2, run, clock)
    assert clock.now == 100.0


def test_virtual_time_stops_until_the_service_has_settled() -> None:
    looks: list[float] = []

    def settled() -> bool:
        looks.append(clock.now)
        return len(looks) == 5

    clock = VirtualClock(1, settled=settled)
    together(1, lambda i: clock.sleep(i, 7.0), clock)
    assert looks == [0.0] * 5
    assert clock.now == 7.0


def test_event_during_the_check_of_settled_is_handled_before_time_advances() -> None:
    asked, came = threading.Event(), threading.Event()
    order: list[str] = []

    def settled() -> bool:
        asked.set()
        assert came.wait(10)
        return True

    clock = VirtualClock(2, settled=settled)

    def run(i: int) -> None:
        if i == 0:
            clock.sleep(0, 1.0)
            order.append("slept")
        else:
            with clock.waiting(1):
                assert asked.wait(10)
            came.set()
            order.append("came")

    together(2, run, clock)
    assert order == ["came", "slept"]


def test_sleep_raises_the_error_of_settled() -> None:
    def settled() -> bool:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        VirtualClock(1, settled=settled).sleep(0, 1.0)


@pytest.mark.parametrize("clock", [VirtualClock(2, settled=lambda: False), WallClock(2)])
def test_stopped_clock_wakes_all_threads(clock: WallClock) -> None:
    def run(i: int) -> None:
        if i == 0:
            clock.sleep(0, NEVER_S)
        else:
            clock.stop()

    together(2, run, clock)


@pytest.mark.parametrize("clock", [VirtualClock(2, settled=lambda: True), WallClock(2)])
def test_all_wait_only_while_everybody_who_takes_part_waits(clock: WallClock) -> None:
    with clock.waiting(0):
        assert not clock.all_wait
        with clock.waiting(1):
            assert clock.all_wait
    assert not clock.all_wait
    clock.leave(1)
    with clock.waiting(0):
        assert clock.all_wait


def test_sleeping_thread_does_not_count_as_waiting() -> None:
    asked, stop = threading.Event(), threading.Event()

    def settled() -> bool:
        asked.set()
        return stop.is_set()

    clock = VirtualClock(2, settled=settled)

    def run(i: int) -> None:
        if i == 0:
            clock.sleep(0, 1.0)
        else:
            with clock.waiting(1):
                assert asked.wait(10)
                assert not clock.all_wait
                stop.set()

    together(2, run, clock)


def test_wall_clock_starts_with_the_first_event() -> None:
    clock = WallClock(1)
    clock.sleep(0, 0.01)
    assert clock.now == 0.0
    with clock.waiting(0):
        pass
    before = clock.now
    clock.sleep(0, 0.01)
    assert clock.now > before
