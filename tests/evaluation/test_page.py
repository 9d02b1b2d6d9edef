"""The page keeps the parts of other commands."""

from itertools import permutations
from pathlib import Path

import pytest

from svddtune.evaluation.page import PARTS, pictures, write_part

TEXTS = {
    "paper": "## Means\n\n| a | b |\n| --- | ---: |\n",
    "noise": "## Labelers who err\n\nText: <!-- a remark --> 0.30 \\1\n",
    "parallel": "\n## Labelers side by side\n",
}


@pytest.mark.parametrize("order", list(permutations(TEXTS)), ids="-".join)
def test_page_does_not_depend_on_order_of_commands(order: tuple[str, ...], tmp_path: Path) -> None:
    for name in order:
        path = write_part(tmp_path / "docs", name, TEXTS[name])
    page = path.read_text()
    assert page.startswith("# Evaluation\n")
    places = [page.index(TEXTS[name].strip()) for name in PARTS if name in TEXTS]
    assert places == sorted(places)


def test_writing_a_part_replaces_it_and_keeps_others(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        path = write_part(tmp_path, name, text)
    before = path.read_text()
    write_part(tmp_path, "noise", "anew")
    assert path.read_text() == before.replace(TEXTS["noise"].strip(), "anew")
    write_part(tmp_path, "noise", TEXTS["noise"])
    assert path.read_text() == before


def test_picture_captions_name_their_command(tmp_path: Path) -> None:
    made = {"stop": tmp_path / "evaluation" / "stop.png"}
    shown = pictures(made, {"stop": "Stop rules.", "bias": "Bias."}, "svddtune bench paper")
    assert shown["bias"] == ""
    assert "(evaluation/stop.png)" in shown["stop"]
    assert "*Stop rules.* (`svddtune bench paper`)" in shown["stop"]
