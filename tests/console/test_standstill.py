"""Sessions that stand still or need not go on: what each page says then, and what can be done."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.console.labeling import Hands, new_session
from tests.console.test_session_page import INLIERS, upload
from tests.e2e.processes import Process, service, worker

from svddtune.client import Session, TuningClient
from svddtune.client.cli.app import run

pytestmark = pytest.mark.slow
Opens = Callable[..., Page]


@contextmanager
def hasty_worker(redis_url: str) -> Iterator[None]:
    """A worker that gives each job up at once."""
    with Process("svddtune.worker", "--redis", redis_url, "--job-s", "0.001"):
        yield


def answered(client: TuningClient, session: Session, labeler: str, verdict: str) -> None:
    """Let a program answer one question."""
    with client.tuning(session, labeler=labeler) as tuning:
        tuning.answer(next(iter(tuning.queries())), verdict)


def state_in_list(page: Page, name: str) -> Locator:
    """The state that the overview tells of a session."""
    return page.get_by_role("row").filter(has_text=name).get_by_role("cell").first


def test_without_a_worker_and_after_a_failure_each_page_says_what_to_do(
    open_page: Opens, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        service(redis_url, "127.0.0.1:0", "--http-listen", "127.0.0.1:0") as front,
        TuningClient(front.ready["address"]) as client,
    ):
        url = str(front.ready["http"])
        session = new_session(client, name="Presses")
        page, overview, label = (
            open_page(path, url=url)
            for path in (f"#/{session.name}", "", f"#/{session.name}/label")
        )
        expect(overview.get_by_text("Labels may be lost: ")).to_contain_text("appendfsync is no")
        expect(state_in_list(overview, "Presses")).to_have_text("preparing no workers")
        expect(page.get_by_text("No worker has given a sign")).to_contain_text("svddtune worker")
        hands = Hands(label).begin()
        expect(label.get_by_text("No worker is running")).to_contain_text("svddtune worker")

        with hasty_worker(redis_url):
            failed = page.get_by_role("alert")
            expect(failed).to_contain_text("JOB_TIME_LIMIT")
        expect(page.get_by_text("was given up")).to_contain_text("svddtune jobs list --state dead")
        expect(page.get_by_text("Resume the session to try it again.")).to_be_visible()
        expect(state_in_list(overview, "Presses")).to_have_text("failed a job was given up")
        expect(label.get_by_role("heading", name="The session has failed.")).to_be_visible()
        assert run(["jobs", "list", "--state", "dead", "--redis", redis_url]) == 0
        assert "JOB_TIME_LIMIT" in capsys.readouterr().out

        with worker(redis_url):
            label.get_by_role("button", name="Try again").click()
            hands.answer()
            expect(failed).to_have_count(0)
            expect(page.get_by_role("region", name="Progress")).to_contain_text("1 of 12 labels")


def test_votes_of_others_and_of_an_adjudicator_are_waited_for(
    open_page: Opens, console_client: TuningClient
) -> None:
    session = new_session(
        console_client, name="Contested", budget=1, overlap=2, adjudicators=["dora"]
    )
    page, overview = open_page(f"#/{session.name}"), open_page()
    overview.get_by_label("Name contains").fill("Contested")
    ann = open_page(f"#/{session.name}/label")
    observation = Hands(ann).begin("ann").press("i")
    expect(ann.get_by_text("What is left needs the votes of other labelers.")).to_be_visible()
    expect(page.get_by_text("needs votes of others.")).to_contain_text("Let another person label")
    expect(state_in_list(overview, "Contested")).to_have_text("labeling waits for further votes")

    answered(console_client, session, "bob", "outlier")
    expect(ann.get_by_text("dora has to decide them.")).to_be_visible()
    expect(page.get_by_text("Let dora decide them, or finish the session.")).to_be_visible()
    expect(page.get_by_text("awaiting an adjudicator: 1 observation")).to_be_visible()
    expect(state_in_list(overview, "Contested")).to_have_text("labeling waits for an adjudicator")

    decides = open_page(f"#/{session.name}/label")
    dora = Hands(decides).begin("dora")
    assert dora.question() == observation
    expect(decides.get_by_text("The votes contradict each other")).to_have_text(
        "The votes contradict each other: 1 inlier, 1 outlier. Yours decides."
    )
    dora.press("o")
    expect(decides.get_by_role("heading", name="The budget of labels is spent.")).to_be_visible()
    expect(page.get_by_text("1 of 1 labels")).to_be_visible()
    (decision,) = [one for one in console_client.labels(session) if one.labeler == "dora"]
    assert decision.adjudicates


def test_a_question_skipped_to_others_comes_to_them_alone(
    open_page: Opens, console_client: TuningClient
) -> None:
    session = new_session(console_client, budget=2)
    page = open_page(f"#/{session.name}/label")
    ann = Hands(page).begin("ann")
    skipped = ann.question()
    page.keyboard.press("s")
    page.keyboard.press("x")
    expect(ann.heading.filter(has_text=re.compile(f": {skipped}$"))).to_have_count(0)
    ann.answer()
    bob = Hands(open_page(f"#/{session.name}/label")).begin("bob")
    assert bob.press("i") == skipped
    expect(page.get_by_role("heading", name="The budget of labels is spent.")).to_be_visible()


def test_where_stopping_is_advised_finishing_is_one_click_away(
    open_page: Opens, console_client: TuningClient
) -> None:
    # (One mistake among them, without which the score has no interval that could be narrow.)
    known = {f"row-{row}": 1 for row in (*range(20), INLIERS)}
    known |= {f"row-{row}": -1 for row in range(INLIERS + 1, INLIERS + 9)}
    dataset = upload(console_client)
    sessions = [
        console_client.create_session(dataset, name=name, budget=40, seed=1, initial_labels=known)
        for name in ("Enough", "Enough, too")
    ]
    page = open_page(f"#/{sessions[0].name}")
    expect(page.get_by_text("More labels are hardly worth their price.")).to_be_visible()
    finish = page.get_by_role("button", name="Finish")
    expect(finish).to_have_class("main")
    finish.click()
    page.get_by_role("dialog").get_by_role("button", name="Finish").click()
    expect(page.get_by_role("link", name="Result")).to_be_visible()
    expect(page.get_by_text("More labels are hardly worth their price.")).to_have_count(0)

    label = open_page(f"#/{sessions[1].name}/label")
    Hands(label).begin()
    label.get_by_role("button", name="Finish the session").click()
    label.get_by_role("link", name="See what was found").wait_for()
