"""A result is computed again from its manifest, its dataset and its labels."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from tests.client.scene import blob

from svddtune.client import Result, SessionConfig, TuningClient, Verdict

pytestmark = pytest.mark.integration

X, Y = blob(5)
START = {str(row): int(Y[row]) for row in (*np.flatnonzero(Y > 0)[:2], *np.flatnonzero(Y < 0)[:2])}


def run(
    client: TuningClient,
    config: SessionConfig,
    initial: Mapping[str, Verdict | int],
    answers: Mapping[int, Verdict | None],
) -> Result:
    """Run a session; queries about rows without an answer get UNSURE."""
    session = client.create_session(
        client.upload_dataset(X, scaling="minmax"), config=config, initial_labels=initial
    )
    with client.tuning(session, labeler="ann") as tuning:
        for query in tuning.queries():
            tuning.answer(query, answers.get(query.row) or Verdict.UNSURE)
    client.wait_until_completed(session, timeout_s=60)
    return client.result(session)


def comparable(result: Result) -> dict[str, object]:
    """The result without what tells two runs apart: names, times, positions in their logs."""
    manifest = replace(result.manifest, last_event_id="")
    return replace(
        result, name="", manifest=manifest, create_time=None, estimate_seconds=0.0
    ).to_dict()


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(SessionConfig(budget=14, seed=7, audit=4), marks=pytest.mark.slow),
        SessionConfig(
            budget=12,
            seed=8,
            strategy="lama",
            k=4,
            c_cells=9,
            c_spacing="geometric",
            metric="mcc",
            gamma_bounds=(0.5, 40.0),
            candidate_sample=20,
        ),
    ],
    ids=["knowledge_gradient with an audit", "lama with settings of its own"],
)
def test_result_is_computed_again_from_its_manifest(
    client: TuningClient, config: SessionConfig
) -> None:
    truth: dict[int, Verdict | None] = {row: Verdict.of(int(Y[row])) for row in range(len(Y))}
    unsure = int(np.flatnonzero(Y > 0)[-1])
    first = run(client, config, START, truth | {unsure: None})
    manifest = first.manifest
    assert manifest.config is not None
    labels = dict(zip(manifest.labeled_rows, manifest.verdicts, strict=True))
    asked = set(manifest.query_rows)
    initial = {str(row): verdict for row, verdict in labels.items() if verdict and row not in asked}
    again = run(client, manifest.config, initial, labels)
    assert comparable(again) == comparable(first)


def test_all_labels_as_initial_ones_give_the_same_result(client: TuningClient) -> None:
    truth: dict[int, Verdict | None] = {row: Verdict.of(int(Y[row])) for row in range(len(Y))}
    first = run(client, SessionConfig(budget=14, seed=3), START, truth)
    manifest = first.manifest
    assert manifest.config is not None
    labels = zip(manifest.labeled_rows, manifest.verdicts, strict=True)
    initial = {str(row): verdict for row, verdict in labels if verdict}
    again = run(client, replace(manifest.config, budget=len(initial)), initial, {})
    assert (again.gamma, again.C, again.quality) == (first.gamma, first.C, first.quality)
