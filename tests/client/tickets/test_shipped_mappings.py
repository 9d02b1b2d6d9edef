from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.client.tickets.exports import csv_text, json_lines, verdicts
from tests.client.tickets.samples import SAMPLES

from svddtune.client import TicketOracle
from svddtune.client.tickets.mapping_file import load_mapping, mapping_text, shipped_mappings


def test_every_shipped_mapping_has_a_sample() -> None:
    assert set(SAMPLES) == set(shipped_mappings())


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_json_lines_export_has_the_verdicts_of_its_mapping(name: str, tmp_path: Path) -> None:
    options, records, expected, unmapped = SAMPLES[name]
    path = json_lines(tmp_path / "export.jsonl", records)
    oracle = TicketOracle(path, mapping=name, **options)
    assert verdicts(oracle) == expected
    report = oracle.report()
    assert report.unmapped == unmapped
    assert report.tickets == len(records)
    assert report.absent_fields == ()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_parquet_export_gives_the_same_verdicts(name: str, tmp_path: Path) -> None:
    options, records, expected, unmapped = SAMPLES[name]
    path = tmp_path / "export.parquet"
    parquet.write_table(pa.Table.from_pylist(records), path)
    oracle = TicketOracle(path, mapping=name, **options)
    assert verdicts(oracle) == expected
    assert oracle.report().unmapped == unmapped


@pytest.mark.parametrize("name", ["microsoft-sentinel", "elastic", "splunk-es", "servicenow-sir"])
def test_csv_export_gives_the_same_verdicts(name: str, tmp_path: Path) -> None:
    options, records, expected, unmapped = SAMPLES[name]
    header = list({field: None for record in records for field in record})
    rows = [[str(record.get(field, "")) for field in header] for record in records]
    path = tmp_path / "export.csv"
    path.write_text(csv_text(header, rows), encoding="utf-8")
    oracle = TicketOracle(path, mapping=name, **options)
    assert verdicts(oracle) == expected
    assert oracle.report().unmapped == unmapped


@pytest.mark.parametrize("name", shipped_mappings())
def test_every_mapping_says_where_it_is_from_and_never_maps_the_ambiguous(name: str) -> None:
    mapping = load_mapping(name)
    assert all(source.startswith("https://") for source in mapping.sources)
    assert f'name = "{name}"' in mapping_text(name)
    clear = {*mapping.meanings()["inlier"], *mapping.meanings()["outlier"]}
    for word in ("benign", "duplicat", "undetermined", "unknown", "other", "none", "done"):
        assert not [value for value in clear if word in value.lower()], word


def test_site_specific_lists_of_shipped_mappings_are_empty() -> None:
    for name in ("jira", "servicenow-sir"):
        meanings = load_mapping(name).meanings()
        assert (meanings["inlier"], meanings["outlier"]) == ([], [])
        assert meanings["abstain"]
