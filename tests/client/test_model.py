import dataclasses
import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import OneClassSVM
from tests.client.models import fit, fit_refined_too, kernel, rows
from tests.profiles import sized

from svddtune.client import InvalidInput, ModelCorrupt, SvddModel
from svddtune.fitted import model as module
from svddtune.numerics import REPRESENTATIONS
from svddtune.representation import Representation


def test_distance_is_that_of_the_definition() -> None:
    model = fit()
    X = rows(seed=5)
    low, high = rows().min(axis=0), rows().max(axis=0)
    Z = (X - low) / (high - low)
    expected = (
        1 - 2 * kernel(Z, model.support_vectors, model.gamma) @ model.alphas + model.center_norm2
    )
    np.testing.assert_allclose(model.distance2(X), expected, atol=1e-12)


def test_prediction_is_the_sign_of_the_decision() -> None:
    model, X = fit(), rows(seed=5)
    inside = model.distance2(X) <= model.R2 + model.tolerance
    np.testing.assert_array_equal(model.predict(X), np.where(inside, 1, -1))
    np.testing.assert_array_equal(model.decision(X) >= 0, inside)
    assert {-1, 1} == set(model.predict(X).tolist())


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = fit(), rows(seed=5)
    whole = model.distance2(X)
    monkeypatch.setattr(module, "_BLOCK_VALUES", 1)
    np.testing.assert_allclose(model.distance2(X), whole, atol=1e-14)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("seed", range(5))
def test_one_class_svm_of_the_same_nu_decides_alike_on_every_row(nu: float, seed: int) -> None:
    model, X = fit(seed, nu=nu), rows(seed)
    Z = model.scaled(X)
    svm = OneClassSVM(kernel="rbf", tol=1e-10, gamma=model.gamma, nu=model.sklearn_nu).fit(Z)
    # The model's tolerance in units of OneClassSVM's decision function, nu N / 2 per unit.
    slack = model.tolerance * model.sklearn_nu * model.observation_count / 2
    inlier = svm.decision_function(Z) >= -slack
    np.testing.assert_array_equal(np.where(inlier, 1, -1), model.predict(X))


def test_saved_model_is_the_same_model(tmp_path: Path) -> None:
    model = fit()
    path = model.save(tmp_path / "new" / "model.npz")
    loaded = SvddModel.load(path)
    for name in {one.name for one in dataclasses.fields(SvddModel)} - {"representation", "profile"}:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
    assert_same(loaded.representation, model.representation)
    assert loaded.profile is not None
    assert model.profile is not None
    np.testing.assert_equal(loaded.profile.to_arrays(), model.profile.to_arrays())
    assert [p.name for p in path.parent.iterdir()] == ["model.npz"]


def assert_same(one: Representation, other: Representation) -> None:
    assert one.kind == other.kind
    first, second = one.to_arrays(), other.to_arrays()
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


@pytest.mark.parametrize("kind", REPRESENTATIONS)
def test_saved_model_keeps_its_representation(tmp_path: Path, kind: str) -> None:
    model = fit(scaling=kind)
    loaded = SvddModel.load(model.save(tmp_path / "model.npz"))
    assert loaded.scaling == kind
    assert_same(loaded.representation, model.representation)
    np.testing.assert_array_equal(loaded.distance2(rows(5)), model.distance2(rows(5)))


def test_file_of_version_1_is_read() -> None:
    loaded, model = SvddModel.load(Path(__file__).with_name("model_1.npz")), fit(n=20)
    assert loaded.scaling == "minmax"
    # (Another machine fitted it; processors differ in the last digit.)
    np.testing.assert_allclose(loaded.distance2(rows(5)), model.distance2(rows(5)), rtol=1e-12)


def test_file_of_version_1_without_scaling_is_read(tmp_path: Path) -> None:
    model = fit(scaling="none")
    path = model.save(tmp_path / "model.npz")
    empty = io.BytesIO()
    np.save(empty, np.empty(0))
    later = {f"{name}.npy": None for name in ("knot_counts", "knots", "values")}
    earlier = {"offset.npy": empty.getvalue(), "scale.npy": empty.getvalue()}
    rewrite(path, {"manifest.json": lambda m: {**m, "version": 1}, **later, **earlier})
    loaded = SvddModel.load(path)
    assert loaded.scaling == "none"
    np.testing.assert_array_equal(loaded.distance2(rows(5)), model.distance2(rows(5)))


def test_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = fit().save(tmp_path / "a.npz"), fit().save(tmp_path / "b.npz")
    assert first.read_bytes() == second.read_bytes()


def test_file_holds_plain_arrays_and_a_manifest(tmp_path: Path) -> None:
    path = fit().save(tmp_path / "model.npz")
    with np.load(path, allow_pickle=False) as archive:
        assert archive["alphas"].sum() == pytest.approx(1)
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["format"] == "svddtune-model"
    assert manifest["version"] == 2
    assert manifest["model"]["feature_names"] == ["f0", "f1", "f2"]


def rewrite(path: Path, changes: dict[str, Any]) -> None:
    """Change members of a model file: bytes, a manifest's fields, None to drop."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, change in changes.items():
        if change is None:
            del members[name]
        elif callable(change):
            members[name] = json.dumps(change(json.loads(members[name]))).encode()
        else:
            members[name] = change
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def model_field(name: str, value: Any) -> Any:
    return lambda manifest: {**manifest, "model": {**manifest["model"], name: value}}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"manifest.json": model_field("gamma", 2.001)}, "distances that differ"),
        ({"manifest.json": model_field("center_norm2", 0.5)}, "distances that differ"),
        ({"manifest.json": model_field("gamma", "x")}, "lacks a part"),
        ({"manifest.json": model_field("R2", float("nan"))}, "not finite"),
        ({"manifest.json": lambda m: {"format": "other"}}, "not an svddtune model"),
        ({"manifest.json": lambda m: {**m, "version": 3}}, "format version 3"),
        ({"manifest.json": lambda m: {**m, "model": [1]}}, "lacks a part"),
        ({"manifest.json": lambda m: {"format": m["format"], "version": 1}}, "not a readable"),
        ({"manifest.json": b"{"}, "not a readable"),
        ({"manifest.json": lambda m: {**m, "version": 1}, "offset.npy": None}, "not a readable"),
        ({"alphas.npy": None}, "lacks a part"),
        ({"knots.npy": None}, "lacks a part"),
        ({"alphas.npy": b"rubbish"}, "not a readable"),
    ],
)
def test_changed_file_is_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    path = fit().save(tmp_path / "model.npz")
    rewrite(path, changes)
    with pytest.raises(ModelCorrupt, match=says):
        SvddModel.load(path)


@pytest.mark.parametrize("content", [b"", b"no zip at all"])
def test_other_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with pytest.raises(ModelCorrupt):
        SvddModel.load(path)


def test_flipped_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    path = fit().save(tmp_path / "model.npz")
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("support_vectors.npy").header_offset + 200
    for place in range(start, start + 400, 37):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(ModelCorrupt):
            SvddModel.load(path)


@settings(deadline=None, max_examples=sized(150))
@given(st.data())
def test_damage_anywhere_gives_the_same_model_or_a_refusal(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = fit().save(Path(folder) / "model.npz")
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            # The directory at the end has what says where everything is.
            place = data.draw(
                st.integers(0, len(content) - 1) | st.integers(len(content) - 700, len(content) - 1)
            )
            content[place] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        try:
            loaded = SvddModel.load(path)
        except ModelCorrupt:
            return
        np.testing.assert_array_equal(loaded.predict(rows()), fit().predict(rows()))


def test_unusual_features_come_with_their_deviation() -> None:
    model, X = fit(), rows()
    X = np.array([X[0], np.median(X, axis=0)])
    X[0, 1] += 1e6
    first, second = model.unusual(X, 2)
    assert (first[0].name, first[0].column, first[0].deviation) == ("f1", 1, 99.0)
    assert first[0].typical == pytest.approx(np.median(rows()[:, 1]))
    assert [one.deviation for one in second] == [0.0, 0.0]
    assert [one.name for one in fit(feature_names=()).unusual(X, 1)[0]] == ["1"]


def test_model_without_a_profile_says_so(tmp_path: Path) -> None:
    path = fit(profile=None).save(tmp_path / "model.npz")
    model = SvddModel.load(path)
    with pytest.raises(InvalidInput, match="Export it again") as refused:
        model.unusual(rows())
    assert refused.value.reason == "PROFILE_MISSING"


def test_file_of_model_keeps_refined_detector(tmp_path: Path) -> None:
    model, X = fit_refined_too(), rows(1)
    loaded = SvddModel.load(model.save(tmp_path / "model.npz"))
    np.testing.assert_array_equal(loaded.probability(X), model.probability(X))
    verdicts = loaded.predict(X, which="refined")
    np.testing.assert_array_equal(verdicts, model.known_refined().predict(X))
    np.testing.assert_array_equal(verdicts == 1, loaded.decision(X, which="refined") >= 0)
    np.testing.assert_array_equal(loaded.predict(X), fit().predict(X))
    first, again = (tmp_path / name for name in ("model.npz", "again.npz"))
    assert first.read_bytes() == loaded.save(again).read_bytes()


def test_refined_detector_takes_columns_of_a_frame_by_name() -> None:
    model, X = fit_refined_too(), rows(1)
    frame = pd.DataFrame(X, columns=["f0", "f1", "f2"])[["f2", "f0", "f1"]]
    np.testing.assert_array_equal(model.probability(frame), model.probability(X))


def test_model_without_refined_detector_says_so() -> None:
    with pytest.raises(InvalidInput, match="no refined detector") as refused:
        fit().predict(rows(), which="refined")
    assert refused.value.reason == "REFINED_MISSING"


def test_unknown_detector_is_refused() -> None:
    with pytest.raises(ValueError, match="'both', expected 'svdd' or 'refined'"):
        fit().predict(rows(), which="both")  # type: ignore[arg-type]


@pytest.mark.parametrize("probabilities", [None, np.zeros(3), np.linspace(0.9, 0.1, 7)])
def test_refined_detector_with_other_probabilities_than_fitted_is_refused(
    probabilities: Any,
) -> None:
    with pytest.raises(ModelCorrupt, match=r"refined detector has .*probabilities"):
        fit_refined_too(check_probability=probabilities)


def test_missing_file_is_not_called_corrupt(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SvddModel.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"alphas": np.ones(3)}, "alphas of shape"),
        (
            {"representation": Representation.affine("minmax", np.zeros(1), np.ones(1))},
            "support vectors with 3 columns",
        ),
        ({"feature_names": ("a",)}, "feature names"),
        (
            {"check_rows": np.empty((0, 3)), "check_distance2": np.empty(0)},
            "0 check rows instead of",
        ),
        ({"gamma": -1.0}, "gamma"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelCorrupt, match=says):
        fit(**changes)


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        fit().predict(np.zeros((2, 5)))
    assert refused.value.reason == "FEATURE_COUNT_MISMATCH"
    with pytest.raises(InvalidInput) as refused:
        fit().predict([[np.nan, 1.0, 2.0]])
    assert refused.value.reason == "DATASET_NOT_FINITE"


def test_new_rows_beyond_doubles_are_refused_with_column_and_bound() -> None:
    model = fit(3)
    new = rows(4)
    new[2, 1] = 1e155
    with pytest.raises(
        InvalidInput, match=r"row 2, column 1 .*; magnitudes up to 1e\+100"
    ) as caught:
        model.predict(new)
    assert caught.value.reason == "DATASET_OUT_OF_RANGE"
    new[:, 1] = np.nan
    with pytest.raises(InvalidInput, match="row 0, column 1") as caught:
        model.predict(new)
    assert caught.value.reason == "DATASET_NOT_FINITE"


@pytest.mark.parametrize("kind", ["none", "minmax", "standard", "ranks", "whitened"])
def test_row_as_far_away_as_values_may_be_is_outside(kind: str) -> None:
    model = fit(3, scaling=kind)
    assert (model.predict(np.array([[1e100, 1e100, -1e100], [0.0, -1e100, 1e100]])) == -1).all()
