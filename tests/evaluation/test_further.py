"""``svddtune bench further``: the defaults on sets that took no part in choosing them."""

import json
from pathlib import Path

import numpy as np
import pytest

from svddtune.client.cli.app import run


@pytest.mark.slow
@pytest.mark.thorough
def test_command_writes_means_over_builtin_sets_and_its_part_of_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, docs = tmp_path / "out", tmp_path / "docs"
    arguments = ["--seeds", "1", "--jobs", "1", "--sets", "Iris,Wine", "--json"]
    methods = ["--methods", "default,default_aside_25"]
    places = ["--out", str(out), "--write-docs", str(docs)]
    assert run(["bench", "further", *arguments, *methods, *places]) == 0
    document = json.loads(capsys.readouterr().out)
    for name in ("default", "default_aside_25"):
        kappas = [document["per_set"][one][name]["kappa"] for one in ("Iris", "Wine")]
        assert document["means"][name] == pytest.approx(np.mean(kappas))
    page = (docs / "evaluation.md").read_text()
    assert "svddtune bench further --seeds 1" in page
    assert "builtin" not in page
    assert (out / "further.csv").exists()
