"""The table of settings: all that speaks of a setting says the same.

The tests walk the table, so a new setting is tested as soon as it has a row.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from tools import describe_settings

from svddtune import numerics
from svddtune.client.cli.app import app, run
from svddtune.client.errors import InvalidInput
from svddtune.client.inputs.settings import read_settings
from svddtune.config import (
    OBSERVATIONS,
    SETTINGS,
    InvalidConfig,
    Numbers,
    SessionConfig,
    Setting,
    Settings,
    changed,
    checked,
    from_proto,
    to_proto,
    visible_columns,
)
from svddtune.jobs.v1 import jobs_pb2
from svddtune.service import validate
from svddtune.state import codec
from svddtune.state.errors import InvalidFields
from svddtune.v1 import config_pb2

N = 1000
EACH = pytest.mark.parametrize("setting", SETTINGS.values(), ids=list(SETTINGS))


def is_flag(setting: Setting) -> bool:
    return isinstance(setting.default, bool)


def highest(setting: Setting) -> float:
    return N if isinstance(setting.high, str) or setting.high is None else setting.high


def ends(setting: Setting) -> list[Any]:
    """The values at the ends of what a setting takes."""
    if setting.words:
        return list(setting.words)
    if setting.is_map:
        most = {str(number): 1.0 for number in range(setting.most)}
        return [{}, most, {64 * "b": math.nextafter(0.5, 1.0)}]
    if setting.is_list and setting.pattern:
        return [(), tuple(map(str, range(setting.most))), ("a", 64 * "b")]
    if setting.pattern:
        return ["", "a", "Z9_-" + 60 * "x"]
    if setting.is_list:
        return [(), tuple(map(str, range(100))), ("a", 256 * "b")]
    if setting.low is None:
        return [False, True] if is_flag(setting) else [(5e-324, 1.7e308), None]
    kind = float if setting.is_optional else type(setting.default)
    return [kind(end) for end in (setting.low, highest(setting))]


def beyond(setting: Setting) -> list[Any]:
    """Values that a setting does not take."""
    if setting.words:
        return ["no-such-word", "", 7, None]
    if setting.is_map:
        named = [{name: 0.8} for name in ("", "two words", 65 * "x", 7)]
        numbers = [{"a": number} for number in (0.5, 1.01, math.nan, "0.8", True, None)]
        return [*named, *numbers, {str(one): 0.8 for one in range(setting.most + 1)}, "a", 3, None]
    if setting.is_list and setting.pattern:
        many = tuple(map(str, range(setting.most + 1)))
        return ["a", ("",), ("two words",), (65 * "x",), many, ("a", "a"), 3]
    if setting.pattern:
        return ["two words", "-a", "9a", 65 * "x", "a\n", 7, 0, None]
    if setting.is_list:
        long = [257 * "x"]
        return ["a", ("",), long, tuple(map(str, range(101))), ("a", "a"), (1.5,), (True,), 3, None]
    if setting.low is None:
        if is_flag(setting):
            return [2, "yes"] if setting.is_optional else [2, "yes", None]
        return [(2.0, 1.0), (0.0, 1.0), (1.0, math.inf), (math.nan, 1.0), (1.0,), "ab", 3]
    low, high = setting.low, highest(setting)
    outside: list[Any] = [low - 1 if low != 1 else -1, high + 1, "7", None, True]
    whole = isinstance(setting.default, int)
    return outside + ([1.5] if whole else [math.nan, math.inf])


def values(setting: Setting) -> st.SearchStrategy[Any]:
    if setting.words:
        return st.sampled_from(list(setting.words))
    if setting.is_map:
        names = st.from_regex(setting.pattern, fullmatch=True)
        rates = st.floats(setting.low, highest(setting), exclude_min=True)
        return st.dictionaries(names, rates, max_size=9).map(Numbers)
    if setting.is_list and setting.pattern:
        names = st.from_regex(setting.pattern, fullmatch=True)
        return st.lists(names, max_size=9, unique=True).map(tuple)
    if setting.pattern:
        return st.just("") | st.from_regex(setting.pattern, fullmatch=True)
    if setting.is_list:
        texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=9)
        return st.lists(texts, max_size=9, unique=True).map(tuple)
    if setting.low is None:
        pair = st.lists(st.floats(1e-9, 1e9), min_size=2, max_size=2, unique=True)
        bounds = pair.map(lambda ends: tuple(sorted(ends)))
        return st.booleans() if is_flag(setting) else st.none() | bounds
    if setting.is_optional:
        return st.none() | st.floats(setting.low, highest(setting))
    if isinstance(setting.default, float):
        return st.floats(setting.low, highest(setting))
    return st.integers(int(setting.low), int(highest(setting)))


CONFIGS = st.fixed_dictionaries({name: values(one) for name, one in SETTINGS.items()}).map(
    lambda found: SessionConfig(
        **found | {"overlap_limit": max(found["overlap"], found["overlap_limit"])}
    )
)


def fitting(name: str, value: object) -> SessionConfig:
    """Settings with one value; a limit on votes that other values allow."""
    further = {"overlap_limit": 20} if name == "overlap" else {}
    return SessionConfig(**{name: value} | further)  # type: ignore[arg-type]


def test_table_and_message_have_the_same_fields() -> None:
    fields = [name for setting in SETTINGS.values() for name in setting.wire]
    assert fields == [one.name for one in config_pb2.SessionConfig.DESCRIPTOR.fields]


def test_keyword_arguments_have_the_names_and_types_of_the_table() -> None:
    fields = {name: hint | None for name, hint in get_type_hints(SessionConfig).items()}
    assert get_type_hints(Settings) == fields


def test_numerics_know_the_words_of_strategies_metrics_and_rules() -> None:
    strategies = SETTINGS["strategy"].words
    assert set(numerics.STRATEGIES) == set(strategies)
    assert numerics.ATLAS_STRATEGIES == {
        one for one in strategies if SessionConfig(strategy=one).needs_atlas
    }
    assert set(numerics.METRICS) == set(SETTINGS["metric"].words)
    assert set(numerics.TIE_RULES) == set(SETTINGS["c_tie_rule"].words)
    assert set(numerics.TAU_RULES) == set(SETTINGS["tau_rule"].words)


@EACH
def test_docstring_describes_the_setting(setting: Setting) -> None:
    assert f"{setting.name} : {setting.allowed}; default" in (SessionConfig.__doc__ or "")
    assert setting.help.endswith(".")


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (describe_settings.CONTRACT, describe_settings.contract),
        (describe_settings.PAGE, describe_settings.page),
    ],
)
def test_contract_and_page_describe_the_settings_as_the_table_does(path: Any, written: Any) -> None:
    assert written(path.read_text()) == path.read_text()


@EACH
def test_zero_or_absence_on_the_wire_stands_for_the_default(setting: Setting) -> None:
    config = from_proto(config_pb2.SessionConfig())
    assert getattr(config, setting.name) == setting.default
    assert config == SessionConfig()


@EACH
def test_values_at_the_ends_of_the_range_are_taken_stored_and_read_back(setting: Setting) -> None:
    for value in ends(setting):
        config = checked(fitting(setting.name, value), N)
        assert getattr(config, setting.name) == value
        assert validate.session_config(to_proto(config), N) == config
        record = jobs_pb2.SessionRecord.FromString(codec.session_record("name", config))
        assert from_proto(record.config) == config


@EACH
def test_values_beyond_the_range_are_refused_with_the_setting_and_what_is_allowed(
    setting: Setting,
) -> None:
    for value in beyond(setting):
        if value == setting.default:
            continue
        with pytest.raises(InvalidConfig) as caught:
            checked(fitting(setting.name, value), N)
        (violation,) = caught.value.violations
        assert violation.setting is setting
        assert violation.value is value
        told = f"{setting.name} is {value!r}; allowed: "
        # (A long value is cut.)
        assert str(violation).startswith(told[:100])


@EACH
def test_service_names_the_field_of_the_message(setting: Setting) -> None:
    message = to_proto(checked(SessionConfig(), N))
    for name in setting.wire:
        field = message.DESCRIPTOR.fields_by_name[name]
        if setting.words:
            setattr(message, name, 99)
        elif setting.is_list:
            getattr(message, name).append("")
        elif setting.is_map:
            getattr(message, name)["a"] = 0.5
        elif setting.pattern:
            setattr(message, name, "two words")
        elif field.type == field.TYPE_BOOL or setting.high == 2**64 - 1:
            return  # The type of the field has no other values.
        else:
            setattr(message, name, highest(setting) + 1)
    with pytest.raises(InvalidFields) as caught:
        validate.session_config(message, N)
    assert caught.value.metadata["field"] == f"config.{setting.wire[0]}"


@given(CONFIGS)
def test_settings_survive_the_wire(config: SessionConfig) -> None:
    assert checked(config, N) == config
    assert from_proto(to_proto(config)) == config


@EACH
@pytest.mark.parametrize("command", [("tune",), ("oracle", "simulate")], ids=" ".join)
def test_commands_have_an_option_that_is_described_as_in_the_table(
    command: tuple[str, ...], setting: Setting
) -> None:
    found: Any = typer.main.get_command(app)
    for name in command:
        found = found.commands[name]
    options = {one.name: one for one in found.params}
    if command == ("oracle", "simulate") and setting.name == "priority":
        assert setting.name not in options
        return
    assert options[setting.name].opts == [setting.option]
    assert setting.help in options[setting.name].help
    assert not options[setting.name].default


@EACH
def test_commands_refuse_values_beyond_the_range_under_the_name_of_the_option(
    setting: Setting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if is_flag(setting) or setting.high == OBSERVATIONS:
        return  # A flag has no value, and a command line does not know the dataset.
    data = tmp_path / "data.csv"
    data.write_text("1,2\n")
    wrong = {"gamma_bounds": "2 1", "own_strategy": "9a", "visible_features": 257 * "x"}
    wrong |= {"adjudicators": "a/b", "required_tags": "a/b"}
    value = wrong.get(setting.name, "no-such-word")
    if setting.low is not None and not setting.is_map:
        value = str(int(highest(setting)) + 1)
    assert run(["tune", str(data), setting.option, *value.split()]) == 2
    told = capsys.readouterr().err
    assert f"{setting.option} is " in told
    assert ('digits and characters of "._@-"' in told) == (value == "a/b")


@EACH
def test_client_refuses_values_beyond_the_range_before_anything_is_sent(setting: Setting) -> None:
    for value in beyond(setting):
        if value is not None and value != setting.default:
            with pytest.raises(InvalidInput) as caught:
                read_settings({setting.name: value}, observation_count=N)
            assert caught.value.metadata["field"] == setting.name
    assert read_settings({setting.name: None}) == SessionConfig()


def test_client_refuses_settings_that_there_are_not() -> None:
    with pytest.raises(InvalidInput, match="Unknown setting of a session: colour; use k, "):
        read_settings({"colour": "red"})


@pytest.mark.parametrize(
    ("given", "names", "columns"),
    [
        ((), ("a", "b", "c"), None),
        (("c", "a"), ("a", "b", "c"), (2, 0)),
        ((2, "0", "b"), ("a", "b", "c"), (2, 0, 1)),
        (("1", 0), (), (1, 0)),
        # A name is taken before a number.
        (("1",), ("1", "b", "c"), (0,)),
    ],
)
def test_visible_features_are_found_by_name_or_column(
    given: tuple[str | int, ...], names: tuple[str, ...], columns: tuple[int, ...] | None
) -> None:
    config = checked(SessionConfig(visible_features=given))
    assert visible_columns(config, names, 3) == columns


@pytest.mark.parametrize(
    ("given", "names", "value", "allowed"),
    [
        (("a", "d"), ("a", "b", "c"), "d", "0 to 2, or its name: 'a', 'b', 'c'"),
        (("3",), ("a", "b", "c"), "3", "0 to 2, or its name: 'a', 'b', 'c'"),
        (("-1",), (), "-1", "0 to 2 (they have no names)"),
        (("a",), (), "a", "0 to 2 (they have no names)"),
        (("²",), (), "²", "0 to 2 (they have no names)"),
        (("b", "1"), ("a", "b", "c"), "1", "each feature once"),
    ],
)
def test_visible_features_that_the_dataset_does_not_have_are_refused(
    given: tuple[str, ...], names: tuple[str, ...], value: str, allowed: str
) -> None:
    with pytest.raises(InvalidConfig) as caught:
        visible_columns(SessionConfig(visible_features=given), names, 3)
    (violation,) = caught.value.violations
    assert violation.setting is SETTINGS["visible_features"]
    assert violation.value == value
    assert violation.allowed.endswith(allowed)


def test_numbers_by_name_are_one_value_in_any_order() -> None:
    first = checked(SessionConfig(trusts={"bob": 0.75, "ann": 1}))
    second = checked(SessionConfig(trusts={"ann": 1.0, "bob": np.float64(0.75)}))
    assert first == second
    assert hash(first) == hash(second)
    assert str(first.trusts) == "ann=1, bob=0.75"
    assert to_proto(first).SerializeToString(deterministic=True) == to_proto(
        second
    ).SerializeToString(deterministic=True)
    assert codec.session_record("name", first) == codec.session_record("name", second)


def test_all_faults_are_told_at_once() -> None:
    wrong = SessionConfig(k=-1, metric="no", audit=N + 1, budget=N + 1, gamma_bounds=(2.0, 1.0))
    with pytest.raises(InvalidConfig) as caught:
        checked(wrong, N)
    assert {(one.setting.name, one.reason) for one in caught.value.violations} == {
        ("k", "INVALID_FIELD"),
        ("metric", "INVALID_FIELD"),
        ("audit", "INVALID_FIELD"),
        ("budget", "BUDGET_TOO_LARGE"),
        ("gamma_bounds", "INVALID_FIELD"),
    }


@pytest.mark.parametrize("strategy", ["lama", "random"])
def test_strategies_that_need_all_neighbours_are_refused_on_large_data(strategy: str) -> None:
    config = SessionConfig(strategy=strategy)
    assert checked(config, 20_000).strategy == strategy
    with pytest.raises(InvalidConfig, match="above 20000 observations") as caught:
        checked(config, 20_001)
    assert [one.setting.name for one in caught.value.violations] == ["strategy"]
    assert checked(SessionConfig(), 2_000_000).strategy == "mixed"


def test_values_of_numpy_and_words_in_any_case_become_plain() -> None:
    given = SessionConfig(
        k=np.int64(3),  # type: ignore[arg-type]
        lease_seconds=np.float32(2.0),  # type: ignore[arg-type]
        auto_finish=np.bool_(True),  # type: ignore[arg-type]
        gamma_bounds=np.array([0.5, 2.0]),  # type: ignore[arg-type]
        metric="MCC",
    )
    plain = checked(given)
    assert plain == SessionConfig(
        k=3, lease_seconds=2.0, auto_finish=True, gamma_bounds=(0.5, 2.0), metric="mcc"
    )
    assert [type(one) for one in (plain.k, plain.lease_seconds, plain.auto_finish)] == [
        int,
        float,
        bool,
    ]


@pytest.mark.parametrize(("overlap", "limit"), [(1, 1), (2, 3), (10, 11)])
def test_limit_of_votes_follows_the_overlap_where_none_is_given(overlap: int, limit: int) -> None:
    assert checked(SessionConfig(overlap=overlap), N).overlap_limit == limit


def test_limit_of_votes_below_the_overlap_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="overlap_limit is 2; allowed: 3 to 20"):
        checked(SessionConfig(overlap=3, overlap_limit=2))


@pytest.mark.parametrize(("n", "budget"), [(20, 20), (50, 50), (51, 50)])
def test_budget_is_fifty_or_all_observations_where_none_is_given(n: int, budget: int) -> None:
    assert checked(SessionConfig(), n).budget == budget


def test_limits_that_depend_on_the_dataset_hold_once_it_is_known() -> None:
    large = replace(SessionConfig(), budget=10**6, audit=10**6)
    assert checked(large) == large
    with pytest.raises(InvalidConfig, match="1 to 1000, the observations of the dataset"):
        checked(large, N)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (SessionConfig(), {}),
        (SessionConfig(budget=50, k=5), {}),
        (SessionConfig(budget=7, strategy="lama"), {"budget": 7, "strategy": "lama"}),
        (SessionConfig(overlap=2), {"overlap": 2}),
        (SessionConfig(overlap=2, overlap_limit=5), {"overlap": 2, "overlap_limit": 5}),
        (
            SessionConfig(overlap=2, adjudicators=("dora",)),
            {"overlap": 2, "adjudicators": ("dora",)},
        ),
    ],
)
def test_what_other_settings_lead_to_is_no_change(
    given: SessionConfig, told: dict[str, object]
) -> None:
    assert {one.name: value for one, value in changed(checked(given, N), N)} == told
