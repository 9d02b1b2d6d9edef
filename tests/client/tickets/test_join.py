from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svddtune.client.tickets.identity import Identity, identity
from svddtune.client.tickets.join import IdJoin, WindowJoin
from svddtune.client.tickets.observations import KeyedObservation
from svddtune.client.tickets.ticket import Ticket, VerdictStatus
from svddtune.client.types import Judgement, Verdict

START = datetime(2024, 5, 1, tzinfo=UTC)


def about(*, ids: Sequence[Any] = (), key: Any = None, observed: datetime | None = None) -> Ticket:
    return Ticket(
        key=identity("T"),
        verdict_status=VerdictStatus.VERDICT,
        judgement=Judgement(Verdict.OUTLIER),
        value="x",
        place="here",
        observation_ids=tuple(map(identity, ids)),
        join_key=None if key is None else identity(key),
        observed=observed,
    )


minutes = st.integers(0, 60).map(lambda n: START + timedelta(minutes=n))
join_keys = st.sampled_from(["a", "A", "7", 7, "07"])


@given(
    rows=st.lists(st.tuples(join_keys, minutes), max_size=12),
    key=join_keys,
    observed=minutes,
    before=st.integers(0, 20),
    after=st.integers(0, 20),
)
def test_a_window_matches_equal_keys_within_the_closed_interval(
    rows: list[tuple[Any, datetime]], key: Any, observed: datetime, before: int, after: int
) -> None:
    observations = [
        KeyedObservation(identity(f"row-{n}"), identity(k), time)
        for n, (k, time) in enumerate(rows)
    ]
    early, late = timedelta(minutes=before), timedelta(minutes=after)
    join = WindowJoin(observations, before=early, after=late)
    ticket = about(key=key, observed=observed)
    expected = {
        f"row-{n}"
        for n, (k, time) in enumerate(rows)
        if type(k) is type(key) and k == key and observed - early <= time <= observed + late
    }
    matches = join.match(ticket)
    assert set(matches) == expected
    assert len(matches) == len(expected)
    if matches:
        distances = {name: abs(rows[int(name[4:])][1] - observed) for name in matches}
        least = [name for name in matches if distances[name] == min(distances.values())]
        assert join.nearest(ticket, matches) == (least if len(least) == 1 else [])


ids = st.sampled_from(["7", "07", " 7", "7.0", "x", "X", "\u00df", "SS", 7, 70, "1e3", "-0", "0"])


@given(known=st.lists(ids, unique_by=identity, max_size=8), wanted=ids)
def test_ids_match_exactly_or_are_near_misses(known: list[Any], wanted: Any) -> None:
    join = IdJoin([KeyedObservation(identity(item)) for item in known])
    ticket = about(ids=[wanted])
    exact = [item for item in known if type(item) is type(wanted) and item == wanted]
    assert join.match(ticket) == [str(item) for item in exact]

    def plain(item: Any) -> Any:
        text = str(item).strip().casefold()
        try:
            return float(text) if "e" not in text else text
        except ValueError:
            return text

    near = {identity(item) for item in known if plain(item) == plain(wanted)} if not exact else ()
    assert {other for _, other in join.near_misses(ticket)} == set(near)


@pytest.mark.parametrize(
    ("one", "two"),
    [(7, "7"), ("7", "07"), (7, 7.0), ("7.0", 7), ("Host", "host"), (True, "true"), ("a ", "a")],
)
def test_similar_values_are_not_equal(one: Any, two: Any) -> None:
    assert identity(one) != identity(two)
    assert identity(one).alike == identity(two).alike


def test_numbers_are_text_only_where_the_owner_says_so() -> None:
    assert identity(7, numbers_as_text=True) == identity("7")
    assert identity(7.0, numbers_as_text=True) != identity("7")
    assert str(identity(7)) == "7 (number)"
    assert str(identity("7")) == "7"


def test_without_observations_text_ids_match_and_numbers_are_near_misses() -> None:
    join = IdJoin(None)
    assert join.match(about(ids=["a", 7])) == ["a"]
    assert join.near_misses(about(ids=["a", 7])) == [(identity(7), Identity(("text", "7")))]


def test_windows_at_the_ends_of_time_do_not_overflow() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    join = WindowJoin(
        [KeyedObservation(identity("r"), identity("k"), last)],
        before=timedelta(days=1),
        after=timedelta(days=1),
    )
    assert join.match(about(key="k", observed=last)) == ["r"]
    assert join.match(about(key="k", observed=datetime.min.replace(tzinfo=UTC))) == []


def test_keys_and_times_that_are_missing_match_nothing() -> None:
    join = WindowJoin(
        [
            KeyedObservation(identity("r"), identity("k"), START),
            KeyedObservation(identity("s"), None, START),
            KeyedObservation(identity("t"), identity("k"), None),
        ],
        before=timedelta(days=9),
        after=timedelta(days=9),
    )
    assert join.match(about(key="k", observed=START)) == ["r"]
    assert join.match(about(key=None, observed=START)) == []
    assert join.match(about(key="k", observed=None)) == []
    assert join.near_misses(about(key="K", observed=START)) == [(identity("K"), identity("k"))]
