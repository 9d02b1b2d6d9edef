"""``svddtune report``: one file that holds all, whatever the state of the session and its names."""

import json
import math
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.client.pictures.scene import moments
from tests.client.report.reading import Element, facts, of, read, table
from tests.client.scene import blob

from svddtune.client import (
    EmbeddedStack,
    Label,
    NotInstalled,
    Session,
    SessionState,
    TuningClient,
    Verdict,
)
from svddtune.client.cli.app import run
from svddtune.client.report import Contents, drawn, gather, page

pytestmark = pytest.mark.integration

HOSTILE = (
    "</title></script><script>document.title=1</script><img src=x onerror=alert(1)>"
    "\"'>{{ 7*7 }}{% raw %}&lt;\x1b]0;owned\x07\u202e]]>-->"
)
SEEN = HOSTILE.replace("\x1b", "\\x1b").replace("\x07", "\\x07").replace("\u202e", "\\u202e")
IDS = [f"{row} {HOSTILE}"[:128] for row in range(60)]
X, Y = blob(77)
Printed = pytest.CaptureFixture[str]


def said(row: int) -> str:
    return "inlier" if Y[row] > 0 else "outlier"


def await_labeling(client: TuningClient, session: Session) -> None:
    for update in client.watch(session):
        if update.session.state is SessionState.LABELING:
            return


@pytest.fixture(scope="module")
def tuned(stack: EmbeddedStack) -> Iterator[Contents]:
    """A session that has ended, whose names are all hostile."""
    with TuningClient(stack.address) as client:
        data = client.upload_dataset(
            X, observation_ids=IDS, feature_names=[HOSTILE, "b"], name=HOSTILE
        )
        session = client.create_session(
            data, budget=24, name=HOSTILE, labels={"team": HOSTILE[:100]}, overlap=2, seed=3
        )
        client.label_all(session, {IDS[row]: "unsure" for row in (50, 51)}, labeler="eve")
        votes = [
            Label(IDS[row], Verdict.of(said(row)), f"ann{HOSTILE}", confidence=0.75)
            for row in range(60)
            if Y[row] < 0 or row < 12
        ]
        assert not client.label_all(session, votes, labeler="ann").refused
        for labeler in ("ann", "bob"):
            with client.tuning(session, labeler=labeler) as tuning:
                for _, query in zip(range(3), tuning.queries(), strict=False):
                    tuning.answer(query, said(query.row))
        client.withdraw_labeler(session, "eve")
        await_labeling(client, session)
        client.finish_session(session)
        client.wait_until_completed(session)
        yield gather(client, session)
        client.delete_session(session)


def made(contents: Contents) -> tuple[str, list[Element]]:
    text = page(
        contents,
        server="127.0.0.1:50051",
        command=lambda *words: shlex.join(["svddtune", *words]),
    )
    return text, read(text)


def test_page_needs_nothing_else_and_is_well_formed(tuned: Contents) -> None:
    text, elements = made(tuned)
    for tag in ("script", "img", "link", "iframe", "object", "form"):
        assert not of(elements, tag)
    ids = [one.attributes["id"] for one in elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for element in elements:
        assert not any(name.startswith("on") or name == "src" for name in element.attributes)
        if "href" in element.attributes:
            assert element.attributes["href"].removeprefix("#") in ids
        for value in element.attributes.values():
            for reference in re.findall(r"url\(([^)]*)\)", value):
                assert reference.removeprefix("#") in ids
    assert "@import" not in text
    (policy,) = [one for one in of(elements, "meta") if "http-equiv" in one.attributes]
    assert "default-src 'none'" in policy.attributes["content"]
    assert len(text) < 200_000


def test_text_of_others_is_only_text(tuned: Contents) -> None:
    # (The service takes no such names of labelers, whoever gives the client another might.)
    strange = replace(
        tuned,
        events=tuple(replace(event, labeler=HOSTILE) for event in tuned.events),
        labelers=tuple(replace(one, labeler=HOSTILE) for one in tuned.labelers),
    )
    text, elements = made(strange)
    (title,) = of(elements, "title")
    (heading,) = of(elements, "h1")
    assert heading.text == SEEN
    assert title.text.startswith(SEEN)
    assert SEEN in facts(elements, "Data and settings")["Columns"]
    for steering in "\x1b\x07\u202e":
        assert steering not in text
    (first,) = [row for row in table(elements, "Every label") if row[0] == "3"]
    assert "<script>" in first[3]
    assert first[5] == SEEN
    assert first[8] == f"ann{SEEN}"
    assert table(elements, "Labelers")[1][0] == SEEN


def test_page_can_be_read_without_seeing_it(tuned: Contents) -> None:
    _, elements = made(replace(tuned, history=tuple(moments())))
    assert of(elements, "html")[0].attributes["lang"] == "en"
    assert len(of(elements, "main")) == 1
    assert len(of(elements, "caption")) == len(of(elements, "table"))
    for cell in of(elements, "th"):
        assert cell.attributes["scope"] in ("row", "col")
    images = [one for one in elements if one.attributes.get("role") == "img"]
    assert len(images) == len(of(elements, "figure")) == len(of(elements, "svg")) >= 5
    for image in images:
        assert len(image.attributes["aria-label"]) > 40
    levels = [int(one.tag[1]) for one in elements if re.fullmatch(r"h\d", one.tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_page_tells_the_result_and_how_sure_it_is(tuned: Contents) -> None:
    result = tuned.result
    assert result is not None
    _, elements = made(tuned)
    outcome = facts(elements, "The chosen detector")
    assert outcome["Gamma"] == f"{result.gamma:.5g}"
    assert outcome["C"].startswith(f"{result.C:.5g} Chosen from")
    assert outcome["Representation"] == result.scaling
    assert "90% interval" in outcome["Cohen's kappa on the labels"]
    assert "not drawn at random" in outcome["Cohen's kappa on the labels"]
    assert outcome["Rows outside"].startswith(f"{result.outside_count} of 60")
    assert len(table(elements, "The choice beside rules")) == 2 + len(result.comparisons)
    assert result.refined is not None
    detectors = [row[:2] for row in table(elements, "The tuned SVDD is")]
    assert ["refined", str(result.refined.outside_count)] in detectors
    changed = {row[0] for row in table(elements, "Settings that are not")[1:]}
    assert changed == {"budget", "overlap", "seed"}
    again = facts(elements, "What it was computed from")
    assert again["Hash of the data"] == result.manifest.dataset_hash
    assert "svddtune" in again["Versions"]
    (manifest,) = [one for one in of(elements, "pre") if "details" in one.inside]
    assert json.loads(manifest.text)["config"]["seed"] == 3


def test_page_tells_each_label_and_who_gave_it(tuned: Contents) -> None:
    _, elements = made(tuned)
    log = table(elements, "Every label")
    titles = ["#", "Time", "Query", "Observation", "Verdict", "Labeler", "Sure", "Took"]
    assert log[0][:8] == titles
    assert len(log) == len(tuned.events) + 1
    assert log[3][2] == "not asked for"
    assert log[3][4] in ("● inlier", "■ outlier")
    assert log[3][5:7] == ["ann", "75%"]
    assert log[-1][2] == "labeler withdrawn"
    labelers = {row[0].split()[0]: row for row in table(elements, "Labelers")[1:]}
    assert "(withdrawn: no vote counts)" in labelers["eve"][0]
    assert labelers["ann"][7].startswith("100% of")
    assert any("100% of the pairs of votes agree" in one.text for one in of(elements, "p"))
    assert any(row[2].startswith("query ") for row in log)


def test_long_log_is_cut_and_says_so(tuned: Contents) -> None:
    _, elements = made(replace(tuned, result=None, events=tuned.events[:1] * 5001))
    (caption,) = [one.text for one in of(elements, "caption") if one.text.startswith("Every")]
    assert caption == "Every label in the order it came: the first 5000 of 5001"
    assert len(table(elements, "Every label")) == 5001


def test_what_cannot_be_judged_is_told(tuned: Contents) -> None:
    result = tuned.result
    assert result is not None
    unknown = replace(result.quality, value=math.nan, interval=None)
    bare = replace(
        result,
        quality=unknown,
        audit=replace(unknown, kind="audit"),
        scaling="",
        refined=None,
        comparisons=(),
        c_curve=(),
        alignment_curve=(),
        outlier_share=None,
        expected_gain=None,
        notes=(HOSTILE,),
        create_time=None,
    )
    _, elements = made(replace(tuned, result=bare, history=()))
    outcome = facts(elements, "The chosen detector")
    assert outcome["Cohen's kappa by audit"].startswith("not known: it takes labels of both")
    assert "holds for all rows" not in outcome["Cohen's kappa by audit"]
    assert outcome["Computed"] == "–"
    assert SEEN in [one.text for one in of(elements, "li")]
    assert not of(elements, "figure")
    assert not [one for one in of(elements, "h2") if one.text == "Pictures"]


def start(client: TuningClient, **settings: Any) -> Any:
    data = client.upload_dataset(X, observation_ids=[str(row) for row in range(60)], name="plain")
    return client.create_session(data, **settings)


def known(count: int, *, outliers: bool = True) -> dict[str, str]:
    """Verdicts on so many rows, the outliers first."""
    rows = sorted(range(60), key=lambda row: int(Y[row]))
    return {str(row): said(row) for row in [r for r in rows if outliers or Y[r] > 0][:count]}


def test_report_of_a_session_in_each_state(
    stack: EmbeddedStack, client: TuningClient, tmp_path: Path, capsys: Printed
) -> None:
    session = start(client, budget=20)

    def report() -> tuple[dict[str, Any], list[Element], str]:
        path = tmp_path / "report.html"
        arguments = ["report", session.name, "-o", str(path), "--server", stack.address]
        assert run([*arguments, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document.pop("file") == str(path)
        elements = read(path.read_text())
        (state,) = [one for one in elements if "state" in one.attributes.get("class", "").split()]
        return document, elements, state.text

    await_labeling(client, session)
    document, elements, state = report()
    assert document == {"session": session.name, "state": "labeling", "result": None}
    assert "still asks for labels" in state
    assert any(one.text.startswith("Nobody has labelled") for one in of(elements, "p"))
    assert any(one.text.startswith("There is no result yet") for one in of(elements, "p"))

    client.label_all(session, known(12), labeler="ann")
    for update in client.watch(session):
        if update.session.live is not None:
            break
    _, elements, state = report()
    assert facts(elements, "What the labels say at the moment")["Gamma"]
    client.pause_session(session)
    assert "is paused" in report()[2]
    client.finish_session(session)
    client.wait_until_completed(session)
    document, _, state = report()
    assert document["result"] == f"{session.name}/results/1"
    assert state == "Completed. Nothing more is asked, and the result is final."
    client.update_session(session, budget=21)
    client.resume_session(session)
    assert "an earlier end of it" in report()[2]
    client.cancel_session(session)
    document, _, state = report()
    assert document["state"] == "cancelled"
    assert document["result"] == f"{session.name}/results/1"
    assert "was cancelled" in state
    client.delete_session(session)


@pytest.mark.parametrize("strategy", ["lama", "mixed"])
def test_report_without_an_atlas_and_of_one_class(strategy: str, client: TuningClient) -> None:
    session = start(client, budget=9, strategy=strategy)
    client.label_all(session, known(9, outliers=strategy == "lama"), labeler="ann")
    client.wait_until_completed(session)
    contents = gather(client, session)
    assert contents.result is not None
    _, elements = made(contents)
    outcome = facts(elements, "The chosen detector")
    if strategy == "lama":
        assert outcome["Chosen by"].startswith("the local alignment")
        assert {"alignment", "costs"} <= {one.name for one in drawn(contents)}
    else:
        assert outcome["Cohen's kappa on the labels"].startswith("not known")
        assert {one.text for one in of(elements, "li")} >= set(contents.result.notes)
    assert any(one.text.startswith("There is no refined detector") for one in of(elements, "p"))
    client.delete_session(session)


@pytest.mark.slow
def test_what_the_report_suggests_works_when_pasted(
    stack: EmbeddedStack,
    client: TuningClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Printed,
) -> None:
    monkeypatch.chdir(tmp_path)
    session = start(client, budget=12)
    client.label_all(session, known(12), labeler="ann")
    client.wait_until_completed(session)
    assert run(["report", session.name, "--server", stack.address]) == 0
    assert "Wrote" in capsys.readouterr().err
    elements = read(Path(f"{session.name.removeprefix('sessions/')}.html").read_text())
    np.savetxt("NEW.csv", X, delimiter=",", header="a,b", comments="")
    names: dict[str, Any] = {"X": X}
    ran = set()
    for block in of(elements, "pre"):
        if "details" in block.inside:
            continue
        if not block.text.startswith("svddtune "):
            exec(block.text, names)
            continue
        for line in block.text.splitlines():
            arguments, _, target = line.partition(" > ")
            words = shlex.split(arguments)[1:]
            assert run(words) == 0, (line, capsys.readouterr())
            ran.add(" ".join(word for word in words[:2] if word.isalpha()))
            out = capsys.readouterr().out
            if target:
                Path(target).write_text(out)
    assert ran == {"predict", "export", "session show", "session labels", "session clone"}
    assert np.array_equal(np.ravel(names["labels"]), names["model"].predict(X))
    assert np.array_equal(names["scores"].labels, names["model"].predict(X))
    assert np.array_equal(names["pipeline"].predict(X), names["model"].predict(X))
    assert Path("labels.csv").read_text().count("\n") == 13


def test_export_draws_the_pictures_of_the_report(
    tuned: Contents, stack: EmbeddedStack, tmp_path: Path, capsys: Printed
) -> None:
    arguments = ["export", tuned.session.name, "--out", str(tmp_path / "m.npz")]
    arguments += ["--pictures", str(tmp_path / "drawn"), "--server", stack.address]
    assert run([*arguments, "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["pictures"]
    assert sorted(files) == sorted(str(path) for path in (tmp_path / "drawn").iterdir())
    names = {Path(file).name for file in files}
    for one in ("alignment", "costs", "comparisons", "detectors"):
        assert {f"{one}.png", f"{one}.svg"} <= names
    for file in map(Path, files):
        assert file.read_bytes().startswith(b"\x89PNG" if file.suffix == ".png" else b"<svg ")


def test_report_of_nobody_and_into_nowhere_fails(
    tuned: Contents, stack: EmbeddedStack, tmp_path: Path, capsys: Printed
) -> None:
    assert run(["report", "nobody", "--server", stack.address]) == 1
    assert "[SESSION_NOT_FOUND]" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "report.html")
    assert run(["report", tuned.session.name, "-o", out, "--server", stack.address]) == 1
    assert capsys.readouterr().err.startswith("svddtune: ")


def test_nothing_is_drawn_where_there_is_nothing_to_see(tuned: Contents) -> None:
    result = tuned.result
    assert result is not None
    begun = replace(tuned, result=None, history=tuple(moments(1)))
    assert not list(drawn(begun))
    text, elements = made(begun)
    assert not of(elements, "figure")
    assert 'href="#pictures"' not in text
    unknown = replace(result.quality, value=math.nan, interval=None)
    one_class = replace(tuned, result=replace(result, quality=unknown), history=())
    assert {one.name for one in drawn(one_class)} <= {"alignment", "detectors"}
    assert "optimistic" not in made(one_class)[0]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_missing_package_names_the_extra(
    missing: str, tuned: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(NotInstalled, match=r"pip install 'svddtune\[report\]'"):
        made(tuned)
