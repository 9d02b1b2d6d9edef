from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.tickets.exports import MAPPING, mapping_file

from svddtune.client.errors import InvalidInput
from svddtune.client.tickets.identity import identity
from svddtune.client.tickets.mapping_file import load_mapping
from svddtune.client.tickets.values import UNMAPPED, ValueTable
from svddtune.client.types import Judgement, Verdict

INLIER, OUTLIER = Judgement(Verdict.INLIER), Judgement(Verdict.OUTLIER)


def changed(folder: Path, old: str, new: str) -> Path:
    assert old in MAPPING
    return mapping_file(folder, MAPPING.replace(old, new))


def fault(path: Path, *overrides: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        load_mapping(path, overrides)
    assert caught.value.reason == "MAPPING_INVALID"
    return caught.value.message.removeprefix(f"{path}: ")


def test_mapping_file_is_read_with_all_its_keys(tmp_path: Path) -> None:
    mapping = load_mapping(mapping_file(tmp_path))
    assert (mapping.name, mapping.version, mapping.verdict) == ("desk", "3", ("verdict",))
    assert mapping.values.find(["confirmed"], typed=True) == OUTLIER
    assert mapping.values.find(["false alarm"], typed=False) == INLIER
    assert mapping.values.find(["benign"], typed=True) is None
    assert mapping.values.find(["Benign"], typed=True) is UNMAPPED


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "", "schema is missing; this version reads schema = 1"),
        ("schema = 1", "schema = 2", "schema is 2; this version reads schema = 1"),
        ('version = "3"', "", "version is missing"),
        ('version = "3"', "version = 3", "version is 3, not a text that is not empty"),
        ('name = "desk"', 'name = ""', "name is missing"),
        ('product = "Desk"', "", "product is missing"),
        (
            'product = "Desk"',
            'color = "red"',
            "color is not a key of a mapping; use one of extends, fields, ",
        ),
        ('key = "key"', "", "fields.key is missing"),
        ('verdict = "verdict"', "verdict = []", "fields.verdict is [], not a text or a list of "),
        ('updated = "changed"', 'update = "changed"', "fields.update is not a key of a mapping; "),
        ('["closed"]', '"closed"', "status.closed is 'closed', not a list of texts and numbers"),
        (
            'status = "state"',
            "",
            "fields.status is missing; it is needed because status.closed is set",
        ),
        (
            'closed = ["closed"]',
            "",
            "status.closed is missing; it is needed because fields.status is set",
        ),
        ("schema = 1", "schema = 1\njoin = 3", "join must be a table; begin it with [join]"),
        ('["benign"]', "[[]]", "values.abstain is [[]], not a list of texts, numbers"),
        (
            '["benign"]',
            '[["benign", 2]]',
            "values.abstain has the value ['benign', 2] with 2 parts, but ",
        ),
        ('["benign"]', '[""]', "values.abstain is [''], not a list of texts, numbers"),
        (
            "abstain =",
            "unsure =",
            "values.unsure is not a key of a mapping; use one of abstain, case_",
        ),
        (
            '["benign"]',
            '["confirmed"]',
            "values.abstain has the value 'confirmed', which is also in values.outlier",
        ),
        (
            '["benign"]',
            '["Confirmed"]',
            "values 'confirmed' and 'Confirmed' differ only in case or type, but",
        ),
        (
            '["benign"]',
            '["Confirmed"]\ncase_sensitive = false',
            "values.abstain has the value 'Confirmed', which is also in values.outlier",
        ),
        ("[status]", '[time]\nzone = "Berlin"\n[status]', "time.zone 'Berlin' is not a time zone"),
        (
            "[status]",
            '[time]\nformat = "when"\n[status]',
            "time.format 'when' is not a time format",
        ),
    ],
)
def test_faults_name_file_and_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = changed(tmp_path, old, new)
    assert fault(path).startswith(message), fault(path)


def test_value_may_have_a_confidence(tmp_path: Path) -> None:
    entries = '["false alarm", { value = ["benign", 2], confidence = 0.8 }]'
    path = changed(tmp_path, 'inlier = ["false alarm"]', f"inlier = {entries}")
    text = path.read_text().replace('"verdict"', '["verdict", "reason"]')
    mapping = load_mapping(mapping_file(tmp_path, text))
    assert mapping.values.find(["benign", 2], typed=True) == Judgement(Verdict.INLIER, 0.8)
    assert mapping.values.find(["benign", 3], typed=True) is None
    assert mapping.values.find(["false alarm"], typed=True) == INLIER
    assert mapping.meanings()["inlier"] == ["false alarm", "benign/2 (0.8)"]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            '[{ value = "a", confidence = 0.5 }]',
            "values.outlier has 'a': confidence is 0.5; allowed: above 0.5, at most 1",
        ),
        ('[{ value = "a", confidence = "high" }]', "values.outlier has 'a': confidence is 'high'"),
        ('[{ value = "a" }]', "values.outlier is [{'value': 'a'}], not a list of texts, numbers, "),
        ('[{ value = "", confidence = 0.8 }]', "values.outlier is [{'value': '', 'confidence'"),
        (
            '["a", { value = "a", confidence = 0.8 }]',
            "values.outlier has the value 'a', twice, with two confidences",
        ),
    ],
)
def test_faulty_confidence_names_file_and_key(tmp_path: Path, entries: str, message: str) -> None:
    path = changed(tmp_path, '["confirmed"]', entries)
    assert fault(path).startswith(message), fault(path)


def test_value_that_abstains_has_no_confidence(tmp_path: Path) -> None:
    path = changed(tmp_path, '["benign"]', '[{ value = "benign", confidence = 0.8 }]')
    assert fault(path).startswith("values.abstain is [{'value': 'benign', 'confidence': 0.8}], not")


def test_invalid_toml_is_reported(tmp_path: Path) -> None:
    path = changed(tmp_path, "[values]", "[values]\ninlier = [")
    assert fault(path).startswith(f"{path} is not TOML: ")


def test_the_same_verdict_twice_is_no_contradiction(tmp_path: Path) -> None:
    path = changed(tmp_path, '["benign"]', '["benign", 1, "1", "benign"]')
    assert load_mapping(path).values.find(["1"], typed=False) is None


def test_a_number_and_its_text_cannot_mean_different_things(tmp_path: Path) -> None:
    path = changed(tmp_path, '["benign"]', '[1]\noutlier_ = ["1"]')
    assert "outlier_" in fault(path)
    path = changed(
        tmp_path, 'outlier = ["confirmed"]\nabstain = ["benign"]', 'outlier = [1]\nabstain = ["1"]'
    )
    assert fault(path).startswith("values '1 (number)' and '1' differ only in case or type")


def test_a_file_extends_a_shipped_mapping_or_a_file_beside_it(tmp_path: Path) -> None:
    ours = mapping_file(
        tmp_path,
        'schema = 1\nname = "ours"\nversion = "1"\nextends = "microsoft-sentinel"\n'
        '[fields]\nobservation_id = "IncidentName"\n'
        '[values]\ninlier = ["BenignPositive"]\nabstain = ["TruePositive"]\n',
        "ours.toml",
    )
    child = mapping_file(
        tmp_path,
        'schema = 1\nname = "child"\nversion = "2"\nextends = "ours.toml"\n'
        '[values]\noutlier = ["TruePositive"]\n',
        "child.toml",
    )
    mapping = load_mapping(child)
    assert (mapping.name, mapping.version) == ("child", "2")
    assert (mapping.product, mapping.key) == ("Microsoft Sentinel incidents", "IncidentNumber")
    assert mapping.observation_id == "IncidentName"
    find = mapping.values.find
    assert find(["BenignPositive", "SuspiciousButExpected"], typed=True) == INLIER
    assert find(["TruePositive"], typed=True) == OUTLIER
    assert load_mapping(ours).values.find(["TruePositive"], typed=True) is None
    assert find(["FalsePositive", "InaccurateData"], typed=True) is None


def test_circular_and_unknown_parents_are_reported(tmp_path: Path) -> None:
    head = 'schema = 1\nname = "x"\nversion = "1"\n'
    one = mapping_file(tmp_path, head + 'extends = "two.toml"', "one.toml")
    mapping_file(tmp_path, head + 'extends = "one.toml"', "two.toml")
    with pytest.raises(InvalidInput, match="extends is circular") as caught:
        load_mapping(one)
    assert caught.value.reason == "MAPPING_INVALID"
    with pytest.raises(InvalidInput, match="There is no mapping 'sentinel'; use one of ") as caught:
        load_mapping("sentinel")
    assert caught.value.reason == "MAPPING_UNKNOWN"
    orphan = mapping_file(tmp_path, head + 'extends = "nobody"', "orphan.toml")
    with pytest.raises(InvalidInput, match="There is no mapping 'nobody'"):
        load_mapping(orphan)
    with pytest.raises(FileNotFoundError):
        load_mapping(tmp_path / "none.toml")


def test_overrides_replace_verdicts_of_the_mapping() -> None:
    mapping = load_mapping("microsoft-sentinel", ["BenignPositive=inlier"])
    assert mapping.overrides == ("BenignPositive=inlier",)
    assert mapping.values.find(["BenignPositive", "x"], typed=True) == INLIER
    narrow = load_mapping("microsoft-sentinel", ["FalsePositive/InaccurateData=INLIER"])
    assert narrow.values.find(["FalsePositive", "InaccurateData"], typed=False) == INLIER
    ocsf = load_mapping("ocsf", ["4=outlier", "99=inlier"])
    assert ocsf.values.find([4], typed=True) == OUTLIER
    assert ocsf.values.find(["4"], typed=False) == OUTLIER
    splunk = load_mapping("splunk-es", ["disposition:2=outlier"])
    assert splunk.values.find(["disposition:2"], typed=True) == OUTLIER


def test_override_may_have_a_confidence() -> None:
    mapping = load_mapping("microsoft-sentinel", ["BenignPositive=inlier:0.8"])
    found = mapping.values.find(["BenignPositive"], typed=True)
    assert found == Judgement(Verdict.INLIER, 0.8)
    assert mapping.provenance == "microsoft-sentinel 1, BenignPositive=inlier:0.8"


@pytest.mark.parametrize("sure", ["", "0.5", "2", "high", "nan"])
def test_override_with_a_faulty_confidence_is_refused(sure: str) -> None:
    with pytest.raises(InvalidInput, match=f"is '{sure}'; allowed: a number above 0.5, at most 1"):
        load_mapping("microsoft-sentinel", [f"BenignPositive=inlier:{sure}"])


@pytest.mark.parametrize(
    "text", ["BenignPositive", "=inlier", "X=", "X=yes", "X=in lier", "X=abstain:0.8", ""]
)
def test_override_without_a_verdict_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a mapping of a value; write VALUE=VERDICT"):
        load_mapping("microsoft-sentinel", [text])


def test_override_in_another_case_is_reported() -> None:
    with pytest.raises(
        InvalidInput, match="'BenignPositive' and 'benignpositive' differ only in case"
    ):
        load_mapping("microsoft-sentinel", ["benignpositive=inlier"])


def test_numbers_equal_numbers_and_text_equals_text() -> None:
    table = ValueTable([((identity(2),), "two"), ((identity(True),), "yes")], case_sensitive=True)
    find = table.find
    assert find([2], typed=True) == find([2.0], typed=True) == find(["2"], typed=False) == "two"
    assert find([True], typed=True) == find(["true"], typed=False) == "yes"
    for value in ("2", 1, "True", 2.5, float("nan")):
        assert find([value], typed=True) is UNMAPPED, value
    for text in ("02", "2.0", " 2", "+2", "1", "TRUE"):
        assert find([text], typed=False) is UNMAPPED, text


parts = st.sampled_from(["a", "A", "b", ""])
keys = st.lists(parts, min_size=1, max_size=3).map(tuple)


@given(rows=st.dictionaries(keys, st.integers(0, 3), max_size=6), value=keys, fold=st.booleans())
def test_the_longest_prefix_that_is_mapped_counts(
    rows: dict[tuple[str, ...], int], value: tuple[str, ...], fold: bool
) -> None:
    table = ValueTable(
        [(tuple(map(identity, key)), meaning) for key, meaning in rows.items()],
        case_sensitive=not fold,
    )

    def same(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
        if fold:
            return [part.lower() for part in one] == [part.lower() for part in two]
        return one == two

    expected: Any = UNMAPPED
    for length in range(1, len(value) + 1):
        for key, meaning in rows.items():  # later rows replace earlier ones
            if same(key, value[:length]):
                expected = meaning
    assert table.find(value, typed=True) == table.find(value, typed=False) == expected


def test_mapping_that_extends_a_missing_file_names_the_key(tmp_path: Path) -> None:
    mapping = tmp_path / "ours.toml"
    mapping.write_text('schema = 1\nname = "a"\nversion = "1"\nextends = "no/such.toml"\n')
    with pytest.raises(InvalidInput, match=r"extends names '.*no/such.toml'") as caught:
        load_mapping(mapping)
    assert caught.value.metadata["key"] == "extends"
