"""``svddtune observations alertmanager``, and who reads what it writes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from tests.client.alertmanager.scene import TOML, alert, payload

from svddtune.client import EmbeddedStack
from svddtune.client.cli.app import run
from svddtune.client.files.data import read_data
from svddtune.client.files.read_table import read_table
from svddtune.client.tickets.observations import Columns, read_observations


def write_input(folder: Path, count: int = 30) -> list[Path]:
    """A list, then one payload a line, some alerts in both."""
    rng = np.random.default_rng(0)
    alerts = []
    for i in range(count):
        value = rng.normal() + (8 if i % 10 == 0 else 0)
        starts = f"2026-03-{i % 28 + 1:02d}T{i % 24:02d}:00:00Z"
        text = {"summary": f'a, "quoted" and {i}'} if i % 2 else {}
        alerts.append(
            alert(f"{i:016x}", starts=starts, annotations={"value": f"{value:.3f}", **text})
        )
    (folder / "features.toml").write_text(TOML)
    (folder / "first.json").write_text(json.dumps([payload(*alerts[:20])], indent=2))
    lines = [json.dumps(payload(one)) for one in alerts[15:]]
    (folder / "second.jsonl").write_text("\n".join(lines) + "\n")
    return [folder / "first.json", folder / "second.jsonl"]


@pytest.mark.parametrize("name", ["found.csv", "found.parquet"])
def test_column_names_of_observation_files_have_meanings(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(path) for path in write_input(tmp_path)]
    out = tmp_path / "new" / name
    options = ["--features", str(tmp_path / "features.toml"), "--out", str(out)]
    assert run(["observations", "alertmanager", *paths, *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(out)
    assert (told["payloads"], told["observations"], told["firing"]) == (16, 30, 30)
    data = read_data(read_table(out))
    assert data.feature_names == told["features"]
    assert data.X.shape == (30, 9)
    assert data.has_ids
    assert data.ids[1] == f"{1:016x}@2026-03-02T01:00:00Z"
    assert data.display is not None
    assert data.display[0] == {"alertname": "ProbeFailure", "status": "firing"}
    assert data.display[1]["summary"] == 'a, "quoted" and 1'
    # What tickets are joined to, without a further option.
    joined = read_observations(out, Columns(), by_window=True)
    assert [one.name for one in joined] == data.ids
    assert joined[0].key is not None
    assert joined[0].key.text == "db-7"
    assert joined[0].time == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.integration
def test_tune_reads_what_was_written(
    stack: EmbeddedStack,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [path.name for path in write_input(tmp_path)]
    assert run(["observations", "alertmanager", *paths, "--features", "features.toml"]) == 0
    out = capsys.readouterr().out
    assert "30 observations with 9 features from 16 payloads; 30 still firing" in out
    assert "svddtune tune observations.csv" in out
    ids = read_data(read_table(Path("observations.csv"))).ids
    verdicts = [f"{name},{'outlier' if i % 10 == 0 else 'inlier'}" for i, name in enumerate(ids)]
    Path("labels.csv").write_text("id,verdict\n" + "\n".join(verdicts) + "\n")
    options = ["--labels", "labels.csv", "--budget", "10", "--scaling", "robust"]
    command = ["tune", "observations.csv", *options, "--server", stack.address, "--json"]
    assert run(command) == 0, capsys.readouterr().err
    tuned = json.loads(capsys.readouterr().out)
    assert tuned["dataset"]["n"] == 30
    assert tuned["dataset"]["m"] == 9
    assert set(tuned["queries"]) <= set(ids)


@pytest.mark.parametrize(
    ("content", "features", "out", "code", "says"),
    [
        ("{", TOML, "o.csv", 1, "am.json line 1 is not JSON: Expecting property name"),
        (
            f"{json.dumps(payload(alert()))}\n\n{{]",
            TOML,
            "o.csv",
            1,
            "am.json line 3 is not JSON: Expecting property name",
        ),
        ("[1]", TOML, "o.csv", 1, "am.json[0] is 1, not a payload"),
        (
            json.dumps(payload(alert(annotations={"value": "high"}))),
            TOML,
            "o.csv",
            1,
            "am.json: alerts[0].annotations.value is 'high', not a finite number",
        ),
        (
            f"{json.dumps(payload(alert()))}\n{json.dumps(payload(version='3'))}",
            TOML,
            "o.csv",
            1,
            "am.json line 2: version is '3'; only version '4' can be read",
        ),
        (json.dumps(payload()), TOML, "o.csv", 1, "The payloads contain no alert"),
        (json.dumps(payload(alert())), "schema = ", "o.csv", 1, "f.toml is not TOML"),
        (json.dumps(payload(alert())), "schema = 1", "o.csv", 1, "f.toml: feature is missing"),
        (
            json.dumps(payload(alert())),
            'schema = 1\n[[feature]]\nkind = "hour"\nname = "time"',
            "o.csv",
            1,
            "The feature name 'time' is reserved",
        ),
        (json.dumps(payload(alert())), TOML, "o.xlsx", 2, "must end in .csv or .parquet"),
    ],
)
def test_mistake_is_reported_in_one_line(
    content: str,
    features: str,
    out: str,
    code: int,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("am.json").write_text(content)
    Path("f.toml").write_text(features)
    command = ["observations", "alertmanager", "am.json", "--features", "f.toml", "--out", out]
    assert run(command) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert says in captured.err
    assert not Path(out).exists()
