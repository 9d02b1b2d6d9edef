"""`tune`, in one call, against a real service."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.client.scene import blob

from svddtune.client import (
    Command,
    EmbeddedStack,
    InvalidInput,
    Progress,
    Query,
    SkipMode,
    SvddModel,
    TuningClient,
    TuningResult,
    Verdict,
    tune,
)
from svddtune.client.notebook import WidgetOracle

pytestmark = pytest.mark.integration


def test_known_labels_give_a_model(stack: EmbeddedStack) -> None:
    X, y = blob(10)
    told: list[Progress] = []
    tuned = tune(
        X, y, budget=15, seed=1, server=stack.address, name="blob", on_progress=told.append
    )
    assert isinstance(tuned, TuningResult)
    assert tuned.quality.counts.total == 15
    assert len(tuned.initial) == 4
    assert len(tuned.queries) == len(set(tuned.queries)) == 11
    assert [a.verdict for a in tuned.asked] == [Verdict.of(int(y[a.row])) for a in tuned.asked]
    assert np.mean(tuned.predict(X) == y) > 0.9
    assert len(tuned.timings.per_query) == 10
    assert list(dict.fromkeys(p.stage for p in told)) == [
        "starting",
        "uploading",
        "preparing",
        "labeling",
        "estimating",
        "done",
    ]
    shares = [p.share for p in told if p.stage == "preparing"]
    assert shares == sorted(shares)
    assert max(p.counts.total for p in told) == 15
    document = tuned.to_dict()
    assert document["dataset"]["name"] == "blob"
    assert document["dataset"]["n"] == 60
    assert document["queries"] == list(tuned.queries)
    assert set(document["defaults"]) >= {"sklearn_default", "scott", "silverman"}
    for rule in tuned.result.comparisons:
        predictions = rule.predictions(60)
        assert predictions is not None
        assert (predictions == -1).sum() == rule.outside_count
    assert "outside" not in document["comparisons"][0]
    compared = tuned.refined.comparison if tuned.refined else None
    assert compared is not None
    assert compared.labels == compared.refined.counts.total == 15
    assert compared.svdd.kind == compared.refined.kind == "held_out"
    assert document["refined"]["comparison"]["better"] == compared.better
    assert any(p.detectors for p in told)
    share, gain = tuned.outlier_share, tuned.expected_gain
    assert share is not None
    assert share.interval.low <= share.value <= share.interval.high
    assert (share.method, share.labels, share.interval.level) == ("belief", 15, 0.9)
    assert document["outlier_share"]["value"] == share.value
    assert document["expected_gain"] == gain
    seen = [p.live for p in told if p.live and p.live.outlier_share]
    # (Of progress that follows quickly only the newest is told.)
    assert seen
    assert min(one.labels for one in seen) >= 10
    assert all(one.expected_gain is not None for one in seen)
    verdicts = tuned.predict(X, which="refined")
    assert tuned.refined is not None
    assert (verdicts == -1).sum() == tuned.refined.outside_count
    assert np.mean(verdicts == y) > 0.9
    assert {one.row for one in tuned.outside} == set(
        np.flatnonzero(tuned.predict(X) == -1).tolist()
    )
    assert [one["row"] for one in document["outside"]] == [one.row for one in tuned.outside]
    labeled = {**tuned.initial, **{a.observation_id: a.verdict for a in tuned.asked}}
    assert {one.label for one in tuned.outside if one.observation_id not in labeled} <= {None}
    assert all(one.label is labeled.get(one.observation_id) for one in tuned.outside)
    assert document["versions"]["svddtune"]


def test_same_seed_same_queries_for_array_mapping_and_function(stack: EmbeddedStack) -> None:
    X, y = blob(11)
    ids = [f"obs-{row}" for row in range(len(X))]
    by_id = {name: int(sign) for name, sign in zip(ids, y, strict=True)}
    first = tune(X, y, budget=10, server=stack.address, ids=ids)
    second = tune(X, by_id, budget=10, server=stack.address, ids=ids)
    third = tune(
        X,
        lambda query: int(y[query.row]),
        initial=first.initial,
        budget=10,
        server=stack.address,
        ids=ids,
    )
    assert first.queries == second.queries == third.queries


def test_oracle_has_the_tags_that_its_run_requires(stack: EmbeddedStack) -> None:
    X, y = blob(2)
    settings: dict[str, Any] = {"budget": 5, "strategy": "lama", "required_tags": ["german"]}
    assert len(tune(X, y, server=stack.address, **settings).asked) == 1


def test_budget_of_the_initial_labels_asks_nothing(stack: EmbeddedStack) -> None:
    X, y = blob(12)
    tuned = tune(X, y, budget=4, server=stack.address)
    assert tuned.queries == ()
    assert tuned.quality.counts.total == 4


def test_rows_without_label_are_dropped_and_the_rest_is_enough(stack: EmbeddedStack) -> None:
    X, y = blob(13)
    some = {str(row): int(y[row]) for row in range(0, 60, 4)}
    tuned = tune(X, some, budget=40, server=stack.address)
    assert tuned.quality.counts.total == len(some)
    assert {a.verdict for a in tuned.asked if a.observation_id not in some} == {None}


def test_undo_shows_the_last_observation_again(stack: EmbeddedStack) -> None:
    X, y = blob(14)
    shown: list[int] = []

    def oracle(query: Query) -> object:
        shown.append(query.row)
        if len(shown) == 3:
            return Command.UNDO
        if len(shown) == 2:
            return -int(y[query.row])  # a slip
        return int(y[query.row])

    tuned = tune(X, oracle, budget=6, server=stack.address)
    assert shown[3] == shown[1]
    assert shown[4] == shown[2]
    assert [a.verdict for a in tuned.asked] == [Verdict.of(int(y[a.row])) for a in tuned.asked]
    assert tuned.quality.counts.total == 6


def test_oracle_that_stops_gets_its_result(stack: EmbeddedStack) -> None:
    X, _ = blob(15)
    answers = iter([1, SkipMode.DROP, "unsure", Command.STOP])
    tuned = tune(X, lambda _: next(answers), server=stack.address)
    assert [a.verdict for a in tuned.asked] == [Verdict.INLIER, None, Verdict.UNSURE]
    assert tuned.quality.counts.total == 1
    assert tuned.notes


def test_oracle_that_holds_the_dialogue_tells_what_it_asked(stack: EmbeddedStack) -> None:
    X, _ = blob(16)
    oracle = WidgetOracle(wait_seen_s=None)

    def answer(change: Any) -> None:
        if change.new["question"]:
            oracle.widget.press("inlier")

    oracle.widget.observe(answer, "shown")
    tuned = tune(X, oracle, budget=3, server=stack.address, strategy="lama")
    assert [one.verdict for one in tuned.asked] == [Verdict.INLIER] * 3
    with TuningClient(stack.address) as client:
        assert {one.labeler for one in client.labels(tuned.session)} == {oracle.labeler}


def test_error_of_the_oracle_is_raised_to_the_caller(stack: EmbeddedStack) -> None:
    def oracle(query: Query) -> int:
        raise KeyError(query.observation_id)

    with pytest.raises(KeyError):
        tune(blob(16)[0], oracle, server=stack.address)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"budget": 61}, "BUDGET_TOO_LARGE"),
        ({"budget": 3}, "BUDGET_TOO_SMALL"),
        ({"ids": ["a"]}, "INVALID_FIELD"),
        ({"scaling": "log"}, "INVALID_FIELD"),
    ],
)
def test_wrong_options_are_refused(
    stack: EmbeddedStack, options: dict[str, object], reason: str
) -> None:
    X, y = blob(17)
    with pytest.raises(InvalidInput) as refused:
        tune(X, y, server=stack.address, **options)  # type: ignore[arg-type]
    assert refused.value.reason == reason


def test_two_rows_are_enough(stack: EmbeddedStack) -> None:
    tuned = tune([[0.0], [1.0]], [1, -1], server=stack.address)
    assert tuned.quality.counts.total == 2


def test_overlap_without_a_server_is_refused(stack: EmbeddedStack) -> None:
    with pytest.raises(InvalidInput, match="needs at least 2 labelers"):
        tune(blob(18)[0], lambda _: 1, overlap=2)


def test_undo_that_ends_in_no_answer_withdraws_the_last_one(stack: EmbeddedStack) -> None:
    X, _ = blob(19)
    answers = iter([1, -1, Command.UNDO, Command.STOP])
    tuned = tune(X, lambda _: next(answers), server=stack.address, budget=9)
    assert [a.verdict for a in tuned.asked] == [Verdict.INLIER, None]
    assert tuned.quality.counts.total == 1


def test_two_steps_of_undo_ask_again_from_the_first(stack: EmbeddedStack) -> None:
    X, _ = blob(20)
    shown: list[int] = []
    answers = iter([1, "unsure", Command.UNDO, Command.UNDO, -1, 1, Command.STOP])

    def oracle(query: Query) -> object:
        shown.append(query.row)
        return next(answers)

    tuned = tune(X, oracle, server=stack.address, budget=9)
    assert shown[:6] == [shown[0], shown[1], shown[2], shown[1], shown[0], shown[1]]
    assert [a.verdict for a in tuned.asked] == [Verdict.OUTLIER, Verdict.INLIER]
    assert tuned.quality.counts.total == 2


def test_frame_keeps_its_names_and_is_matched_by_them(stack: EmbeddedStack, tmp_path: Path) -> None:
    X, y = blob(21)
    frame = pd.DataFrame(X * [1.0, 50.0], columns=["load", "latency"], index=range(500, 560))
    tuned = tune(frame, y, budget=8, server=stack.address)
    assert tuned.dataset.feature_names == ("load", "latency")
    assert tuned.model.feature_names == ("load", "latency")
    expected = tuned.predict(frame.to_numpy())
    assert {-1, 1} == set(expected.tolist())
    loaded = SvddModel.load(tuned.model.save(tmp_path / "model.npz"))
    for model in (tuned, loaded):
        np.testing.assert_array_equal(model.predict(frame[["latency", "load"]]), expected)
        np.testing.assert_array_equal(
            model.predict(pl.from_pandas(frame[["latency", "load"]])), expected
        )
        with pytest.raises(InvalidInput, match="lacks 'load'"):
            model.predict(frame.rename(columns={"load": "cpu"}))


def test_labels_of_zero_and_one_need_the_outlier_value(stack: EmbeddedStack) -> None:
    X, y = blob(22)
    with pytest.raises(InvalidInput) as refused:
        tune(X, (y == -1).astype(int), server=stack.address)
    assert refused.value.reason == "LABELS_AMBIGUOUS"
    assert "outlier_value" in refused.value.message
    by_sign = tune(X, y, budget=8, server=stack.address)
    for labels, value in (((y == -1).astype(int), 1), (y == -1, True), (y == 1, False)):
        tuned = tune(X, labels, outlier_value=value, budget=8, server=stack.address)
        assert tuned.asked == by_sign.asked
        assert tuned.initial == by_sign.initial


def test_labels_with_another_index_than_the_frame_are_refused(stack: EmbeddedStack) -> None:
    X, y = blob(23)
    frame = pd.DataFrame(X, columns=["a", "b"])
    shuffled = pd.Series(y)[::-1]
    for options in ({"oracle": shuffled}, {"oracle": y, "ids": shuffled.index.to_series()}):
        with pytest.raises(InvalidInput) as refused:
            tune(frame, server=stack.address, **options)
        assert refused.value.reason == "INDEX_MISMATCH"


def test_outlier_value_beside_a_function_is_refused(stack: EmbeddedStack) -> None:
    with pytest.raises(InvalidInput, match="the oracle is a function"):
        tune(blob(24)[0], lambda _: 1, outlier_value=1, server=stack.address)


def test_ids_of_whole_numbers_are_exact_and_matched_by_labels(stack: EmbeddedStack) -> None:
    X, y = blob(25)
    ids = np.arange(len(X)) + 2**60
    labels = {int(name): int(sign) for name, sign in zip(ids, y, strict=True)}
    tuned = tune(X, labels, ids=ids, budget=8, server=stack.address)
    assert set(tuned.queries) <= {str(name) for name in ids.tolist()}
    assert len(tuned.queries) == 4


def test_oracle_gets_the_visible_features_alone(stack: EmbeddedStack) -> None:
    X, _ = blob(22)
    shown: list[Query] = []

    def oracle(query: Query) -> object:
        shown.append(query)
        return Command.STOP if len(shown) > 2 else 1

    names = ["load", "heat"]
    tune(X, oracle, server=stack.address, feature_names=names, visible_features=["heat"], budget=9)
    for query in shown:
        assert query.features.tolist() == [X[query.row, 1]]
        assert (query.columns, query.names) == ((1,), ("heat",))
        assert {one.name for one in query.unusual} <= {"heat"}
        assert not query.nearby


def test_visible_features_that_the_data_lack_are_refused_before_anything_is_sent() -> None:
    X, y = blob(10)
    with pytest.raises(InvalidInput, match="'heat'; allowed: the column of a feature") as refused:
        tune(X, y, server="127.0.0.1:1", visible_features=["heat"])
    assert refused.value.metadata["field"] == "visible_features"


@pytest.mark.parametrize("strategy", ["lama", "knowledge_gradient"])
def test_gamma_lies_within_the_bounds_of_the_caller(stack: EmbeddedStack, strategy: str) -> None:
    X, y = blob(10)
    tuned = tune(
        X, y, budget=10, server=stack.address, strategy=strategy, gamma_bounds=(50.0, 60.0)
    )
    assert 50.0 <= tuned.gamma <= 60.0


@pytest.mark.parametrize(
    "bounds",
    [(2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (1.0, np.inf), (np.nan, 1.0), (1.0,), 3],
)
def test_senseless_gamma_bounds_are_refused_before_anything_is_sent(bounds: object) -> None:
    X, y = blob(10)
    with pytest.raises(InvalidInput, match="two finite numbers") as refused:
        tune(X, y, server="127.0.0.1:1", gamma_bounds=bounds)  # type: ignore[arg-type]
    assert refused.value.metadata["field"] == "gamma_bounds"


def test_values_that_squared_distances_cannot_hold_are_refused_before_anything_is_asked() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2)) * 1e200
    with pytest.raises(InvalidInput, match="at row 0, column 0") as refused:
        tune(X, lambda query: pytest.fail("asked"), budget=12)
    assert refused.value.reason == "DATASET_OUT_OF_RANGE"


def test_default_settings_find_faults_in_raw_columns_of_mixed_units(stack: EmbeddedStack) -> None:
    rng = np.random.default_rng(2)
    pressure_pa, temperature_k = rng.normal(101_325.0, 2000.0, 150), rng.normal(330.0, 3.0, 150)
    vibration_mm_s, current_a = rng.lognormal(0.0, 0.15, 150), rng.normal(12.0, 0.5, 150)
    faults = rng.choice(150, 12, replace=False)
    vibration_mm_s[faults] *= rng.uniform(4.0, 6.0, 12)
    current_a[faults] += rng.uniform(5.0, 7.0, 12)
    temperature_k[faults] += rng.uniform(12.0, 18.0, 12)
    X = np.column_stack((pressure_pa, temperature_k, vibration_mm_s, current_a))
    y = np.ones(150, dtype=np.int8)
    y[faults] = -1
    tuned = tune(X, lambda query: int(y[query.row]), budget=25, server=stack.address)
    assert tuned.dataset.scaling == "auto"
    assert tuned.scaling in tuned.result.manifest.atlas_scalings
    assert tuned.model.scaling == tuned.scaling
    assert tuned.result.manifest.scaling == "auto"
    # With the columns as they are, pressure rules all distances and 1 of the 12 faults is found.
    outside = tuned.predict(X) == -1
    assert outside[faults].sum() >= 10
    assert outside.sum() <= 20
