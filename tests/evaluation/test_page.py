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


@pytest.mark.parametrize("order", list(permutations(PARTS)), ids="-".join)
def test_the_order_of_the_commands_does_not_matter(order: tuple[str, ...], tmp_path: Path) -> None:
    for name in order:
        path = write_part(tmp_path / "docs", name, TEXTS[name])
    page = path.read_text()
    assert page.startswith("# Evaluation\n")
    places = [page.index(TEXTS[name].strip()) for name in PARTS]
    assert places == sorted(places)


def test_a_part_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        path = write_part(tmp_path, name, text)
    before = path.read_text()
    write_part(tmp_path, "noise", "anew")
    assert path.read_text() == before.replace(TEXTS["noise"].strip(), "anew")
    write_part(tmp_path, "noise", TEXTS["noise"])
    assert path.read_text() == before


def test_pictures_say_what_drew_them(tmp_path: Path) -> None:
    made = {"stop": tmp_path / "evaluation" / "stop.png"}
    shown = pictures(made, {"stop": "Stop rules.", "bias": "Bias."}, "svddtune bench paper")
    assert shown["bias"] == ""
    assert "(evaluation/stop.png)" in shown["stop"]
    assert "*Stop rules.* (`svddtune bench paper`)" in shown["stop"]
