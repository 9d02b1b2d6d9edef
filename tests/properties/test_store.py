"""The store agrees with the model in random histories of up to 50 holders.

No vote is lost, and none has two effects. Leases are exclusive. The state is the fold over the log.
A notice names every holder whose leases change. With truthful labelers every session ends.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.profiles import IS_LONG, sized
from tests.properties.ballot import Rules
from tests.properties.checked_session import Backend
from tests.properties.histories import QUARREL, VERBS, History
from tests.properties.labeling import Start, Step
from tests.proxy import proxy_to

pytestmark = pytest.mark.integration

# The last one is there at the end only.
JUDGES = ("l0", "l3", "judge")


rules = st.builds(
    lambda overlap, above, **further: Rules(overlap=overlap, limit=overlap + above, **further),
    overlap=st.integers(1, 3),
    above=st.integers(0, 2),
    adaptive=st.booleans(),
    repeat_every=st.sampled_from([0, 0, 1, 3]),
    adjudicators=st.sampled_from([(), JUDGES]),
)
starts = st.builds(
    Start,
    rules=rules,
    rows=st.sampled_from([14, 60, 6]),
    budget=st.integers(3, 20),
    initial=st.dictionaries(st.integers(0, 2), st.sampled_from([1, -1])),
    controls=st.lists(st.sampled_from([1, -1]), max_size=3),
    control_share=st.sampled_from([0.5, 0.3, 0.1, 0.0]),
    holder_count=st.sampled_from([3, 8, 50]),
    prediction=st.integers(0, 3),
)
# Few votes on a query, so that many come to nothing.
quarrels = st.builds(
    lambda start, overlap, adaptive, controls, share: start._replace(
        rules=Rules(overlap, adaptive, max(2, overlap), start.rules.repeat_every, JUDGES),
        budget=max(10, start.budget),
        controls=controls,
        control_share=share,
    ),
    starts.filter(lambda start: start.rows > 6),
    overlap=st.integers(1, 2),
    adaptive=st.booleans(),
    controls=st.lists(st.sampled_from([1, -1]), min_size=1, max_size=3),
    share=st.sampled_from([0.5, 0.3]),
)


def steps(verbs: dict[str, int]) -> st.SearchStrategy[list[Step]]:
    """Steps with these weights."""
    return st.lists(
        st.builds(
            Step,
            verb=st.sampled_from([verb for verb, often in verbs.items() for _ in range(often)]),
            who=st.integers(0, 49),
            pick=st.integers(0, 999),
            value=st.integers(0, 9),
            flag=st.booleans(),
        ),
        min_size=30,
        max_size=90,
    )


def drawn(verbs: dict[str, int], count: int) -> list[Step]:
    """So many steps with these weights, always the same."""
    random = Random(13)
    return [
        Step(
            verb=random.choices(list(verbs), list(verbs.values()))[0],
            who=random.randrange(50),
            pick=random.randrange(1000),
            value=random.randrange(10),
            flag=random.random() < 0.5,
        )
        for _ in range(count)
    ]


LONG_QUARREL = Start(
    Rules(overlap=2, limit=2, repeat_every=1, adjudicators=JUDGES),
    rows=60,
    budget=20,
    initial={},
    controls=[1, -1, -1],
    control_share=0.3,
    holder_count=8,
    prediction=1,
)
REACHED = ("decisions", "answers to control items", "unasked answers on control items", "repeats")
QUARRELS = sized(20)


@pytest.fixture
def backend(redis_url: str) -> Iterator[Backend]:
    opened = Backend(redis_url)
    yield opened
    opened.close()


@pytest.fixture
def lossy_backend(redis_url: str) -> Iterator[Backend]:
    """A backend that loses some replies to its calls, and then repeats the calls."""
    with proxy_to(redis_url) as proxy:
        opened = Backend(proxy.url)
        proxy.lose_some(0.1, seed=1)
        yield opened
        opened.close()
        assert proxy.lost > 0


@pytest.mark.timeout(0 if IS_LONG else 120)
@settings(
    max_examples=sized(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(start=starts, steps=steps(VERBS))
def test_random_histories_agree_with_the_model(
    backend: Backend, start: Start, steps: list[Step]
) -> None:
    run_history(backend, start, steps)


@pytest.mark.timeout(0 if IS_LONG else 120)
def test_histories_of_quarrels_agree_with_the_model(backend: Backend) -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=QUARRELS, suppress_health_check=[HealthCheck.too_slow])
    @given(start=quarrels, steps=steps(QUARREL))
    # Hypothesis tries much that leads to little; this one reaches all of it.
    @example(start=LONG_QUARREL, steps=drawn(QUARREL, 90))
    def run(start: Start, steps: list[Step]) -> None:
        reached.update(run_history(backend, start, steps))

    run()
    assert min(reached[one] for one in REACHED) >= 3, reached


def run_history(backend: Backend, start: Start, steps: list[Step]) -> Counter[str]:
    """Run a history, complete its session and delete it; return what it reached."""
    history = History(backend, start)
    for step in steps:
        history.act(step)
    history.drain()
    history.checked.check_reports()
    history.checked.delete()
    return history.reached()


@pytest.mark.timeout(0 if IS_LONG else 120)
@settings(
    max_examples=sized(10),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(start=starts, steps=steps(VERBS))
def test_histories_with_lost_replies_agree_with_the_model(
    lossy_backend: Backend, start: Start, steps: list[Step]
) -> None:
    run_history(lossy_backend, start, steps)
