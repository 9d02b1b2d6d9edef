"""Strategies and representations of other packages are found by their entry points, and work."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.estimators.scene import X, y
from tests.extensions.scene import install, install_example
from tests.worker.scene import Workshop, work

from svddtune import SVDD, ActiveSVDD, Query, numerics
from svddtune.config import SessionConfig
from svddtune.extensions import (
    REPRESENTATIONS,
    STRATEGIES,
    ExtensionBroken,
    ExtensionMissing,
    installed,
    load_representation,
    load_strategy,
    registry,
)
from svddtune.state.session import Failure, SessionState
from svddtune.worker.loop import WorkerLoop

FAULTY = """
def wrong(situation):
    return [0]

number = 7
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two packages: that of the example, and one with faults."""
    install_example(tmp_path)
    entries = {
        "wrong": "svddtune_faulty:wrong",
        "number": "svddtune_faulty:number",
        "nowhere": "svddtune_faulty:nowhere",
        "no_module": "svddtune_not_there:strategy",
        "lama": "svddtune_faulty:wrong",
    }
    install(tmp_path, "svddtune_faulty", FAULTY, {STRATEGIES: entries, REPRESENTATIONS: entries})
    monkeypatch.syspath_prepend(tmp_path)
    registry._entries.cache_clear()
    yield
    registry._entries.cache_clear()


def truth(query: Query) -> int:
    return int(y[query.row])


@pytest.mark.usefixtures("packages")
def test_installed_names_are_those_of_svddtune_and_of_all_packages() -> None:
    others = ("farthest", "no_module", "nowhere", "number", "wrong")
    assert installed(STRATEGIES) == (*numerics.STRATEGIES, *others)
    assert installed(REPRESENTATIONS)[: len(numerics.REPRESENTATIONS)] == numerics.REPRESENTATIONS
    assert "signed_root" in installed(REPRESENTATIONS)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("number", "is a int, which is not callable"),
        ("nowhere", "cannot be loaded: AttributeError"),
        (
            "no_module",
            "ModuleNotFoundError: No module named 'svddtune_not_there'",
        ),
    ],
)
def test_entry_point_that_cannot_be_used_is_refused_with_the_problem(
    name: str, problem: str
) -> None:
    with pytest.raises(ExtensionBroken, match=problem) as caught:
        load_strategy(name)
    assert caught.value.reason == "QUERY_STRATEGY_BROKEN"
    with pytest.raises(ExtensionBroken, match=problem) as caught:
        load_representation(name)
    assert caught.value.reason == "REPRESENTATION_BROKEN"


@pytest.mark.usefixtures("packages")
def test_name_that_no_package_offers_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ExtensionMissing, match=r"'nearest' here; there are lama.*farthest"
    ) as caught:
        load_strategy("nearest")
    assert caught.value.reason == "QUERY_STRATEGY_NOT_INSTALLED"
    with pytest.raises(ExtensionMissing, match="no representation 'log' here") as caught:
        SVDD(scaling="log").fit(X)
    assert caught.value.reason == "REPRESENTATION_NOT_INSTALLED"


@pytest.mark.usefixtures("packages")
def test_estimator_asks_by_strategy_of_other_package() -> None:
    by_name = ActiveSVDD(truth, budget=12, strategy="farthest", scaling="minmax").fit(X)
    by_itself = ActiveSVDD(
        truth, budget=12, strategy=load_strategy("farthest"), scaling="minmax"
    ).fit(X)
    np.testing.assert_array_equal(by_name.result_.queries, by_itself.result_.queries)
    Z = numerics.fit_representation(X, "minmax").apply(X)
    first = np.square(Z - np.median(Z, axis=0)).sum(axis=1).argmax()
    assert by_name.result_.queries[0] == first
    assert by_name.result_.final.gamma == by_name.result_.choices[-1].gamma


@pytest.mark.usefixtures("packages")
def test_estimators_map_columns_by_representation_of_other_package() -> None:
    tuned = ActiveSVDD(truth, budget=12, scaling="signed_root").fit(X)
    alone = SVDD(gamma=tuned.gamma_, C=tuned.C_, scaling="signed_root").fit(X)
    assert tuned.scaling_ == alone.representation_.kind == "signed_root"
    np.testing.assert_allclose(tuned.decision_function(X), alone.decision_function(X), atol=1e-9)
    Z = alone.representation_.apply(X)
    farthest = np.abs(X - np.median(X, axis=0)).argmax(axis=0)
    assert (np.abs(Z).argmax(axis=0) == farthest).all()


async def _failure(shop: Workshop, own_strategy: str) -> Failure | None:
    """Create a session, work until it has ended, and return why."""
    session_id = await shop.sessions.create(
        shop.dataset_id, SessionConfig(own_strategy=own_strategy), observation_count=len(X)
    )
    loop = WorkerLoop(shop.worker.queue, shop.worker.steps)
    working = asyncio.create_task(asyncio.to_thread(loop.run, {}))
    try:
        while not (session := await shop.sessions.get(session_id)).state.ended:
            await asyncio.sleep(0.01)
    finally:
        loop.stop()
        await working
    assert session.state is SessionState.FAILED
    return session.failure


@pytest.mark.integration
@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        ("nearest", "QUERY_STRATEGY_NOT_INSTALLED", "There is no query strategy 'nearest' here"),
        ("number", "QUERY_STRATEGY_BROKEN", "is a int, which is not callable"),
        ("wrong", "QUERY_STRATEGY_BROKEN", "query strategy wrong: returned list, expected Ranked"),
    ],
)
def test_session_with_strategy_that_worker_cannot_use_fails_with_the_reason(
    redis_url: str, name: str, reason: str, message: str
) -> None:
    async def act(shop: Workshop) -> None:
        await shop.upload_rows(X)
        failure = await _failure(shop, name)
        assert failure is not None
        assert failure.reason == reason
        assert message in failure.message

    work(redis_url, act)


@pytest.mark.integration
@pytest.mark.usefixtures("packages")
def test_session_asks_by_strategy_of_other_package(redis_url: str) -> None:
    Z = numerics.fit_representation(X, "minmax").apply(X)
    asked: list[int] = []
    numerics.run(
        Z,
        lambda row: asked.append(row) or int(y[row]),  # type: ignore[func-returns-value]
        budget=1,
        strategy=load_strategy("farthest"),
        initial=(0, 0),
    )

    async def act(shop: Workshop) -> None:
        await shop.upload_rows(Z)
        session_id = await shop.tuning(initial={}, own_strategy="farthest", budget=20)
        (lease,) = await shop.lease(session_id, most=1)
        assert lease.row == asked[0]

    work(redis_url, act)
