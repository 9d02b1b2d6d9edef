"""Overview: sessions, datasets, workers, kept up to date and found by what people know of them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from tests.console import axe

from svddtune.client import EmbeddedStack, Session, TuningClient
from svddtune.process import tokens

Opens = Callable[..., Page]
HOSTILE = "<img src=x onerror=alert(1)>\u202egnp"


@pytest.fixture(scope="module")
def crowd(console_stack: EmbeddedStack) -> Iterator[list[Session]]:
    """Sessions of one team, with hostile names and labels among them."""
    with TuningClient(console_stack.address) as client:
        rng = np.random.default_rng(77)
        dataset = client.upload_dataset(rng.normal(size=(40, 2)), name=HOSTILE)
        made = [
            client.create_session(
                dataset,
                name=HOSTILE if number == 0 else f"crowd {number}",
                labels={"team": "crowd", "note": "<b>x</b>" if number == 0 else "usual"},
                budget=5,
            )
            for number in range(22)
        ]
        yield made
        for session in made:
            client.delete_session(session)
        client.delete_dataset(dataset)


def rows(page: Page) -> list[str]:
    """The names of the sessions in the table."""
    names = page.locator("table.sessions tbody th a")
    names.first.wait_for()
    return names.all_inner_texts()


def test_sessions_are_found_paged_and_kept_up_to_date(
    open_page: Opens, crowd: list[Session], console_client: TuningClient
) -> None:
    page = open_page()
    table = page.locator("table.sessions tbody tr")
    # (The newest sessions are the crowd's, so the list looks the same before the filter holds.)
    with page.expect_response(lambda response: "crowd" in response.url):
        page.get_by_label("Labels").fill("team=crowd")
    page.wait_for_function(
        "[...document.querySelectorAll('table.sessions tbody tr')]"
        ".every(row => row.innerText.includes('team=crowd'))"
    )
    assert rows(page) == [f"crowd {number}" for number in range(21, 1, -1)]
    page.get_by_role("button", name="Older").click()
    expect(table).to_have_count(2)
    expect(page.get_by_text("Page 2")).to_be_visible()
    page.get_by_role("button", name="Newer").click()
    page.get_by_label("Name contains").fill("ROWD 17")
    expect(table).to_have_count(1)
    # A change shows by itself, in the row that was there before.
    element = table.first.element_handle()
    console_client.cancel_session(crowd[17])
    expect(table.first).to_contain_text("cancelled")
    assert page.evaluate("([row]) => row.isConnected", [element])
    page.get_by_label("State").select_option("completed")
    expect(page.get_by_text("No such sessions.")).to_be_visible()
    page.get_by_label("State").select_option("cancelled")
    expect(table).to_have_count(1)
    table.get_by_role("link", name="crowd 17").click()
    page.wait_for_url(f"**/#/{crowd[17].name}")


def test_datasets_are_deleted_after_a_question(
    open_page: Opens, console_client: TuningClient
) -> None:
    name = f"gone at {datetime.now(UTC).isoformat()}"
    rng = np.random.default_rng(78)
    dataset = console_client.upload_dataset(rng.normal(size=(12, 2)), name=name)
    page = open_page()
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("12")
    delete = row.get_by_role("button", name="Delete")
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Leave it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(delete).to_be_focused()
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    assert dataset.name not in {one.name for one in console_client.list_datasets()}


@pytest.mark.parametrize(
    ("dark", "width"), [(False, 360), pytest.param(True, 2560, marks=pytest.mark.slow)]
)
def test_hostile_names_stay_text_and_the_page_is_accessible(
    open_page: Opens, crowd: list[Session], dark: bool, width: int
) -> None:
    page = open_page(dark=dark, width=width)
    page.get_by_label("Name contains").fill("<img")
    link = page.get_by_role("link", name="<img src=x onerror=alert(1)>").first
    expect(link).to_have_attribute("href", f"#/{crowd[0].name}")
    expect(page.get_by_text("note=<b>x</b>")).to_be_visible()
    page.get_by_role("heading", name="Workers and queue").wait_for()
    page.get_by_role("cell", name="just now").last.wait_for()
    assert page.locator("img[src=x]").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["#/nonsense", "#/sessions/some/nonsense"])
def test_an_address_without_a_page_says_so(open_page: Opens, path: str) -> None:
    page = open_page(path)
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()


@pytest.mark.slow
def test_an_empty_service_tells_the_first_step_and_a_lost_one_is_waited_for(
    open_page: Opens,
) -> None:
    with EmbeddedStack(workers=1, http_listen="127.0.0.1:0") as stack:
        page = open_page(url=str(stack.info["http"]))
        expect(page.get_by_text("There is no session yet.")).to_be_visible()
        expect(page.get_by_text("Drop a CSV file here")).to_be_visible()
        expect(page.get_by_text("No dataset is stored.")).to_be_visible()
        expect(
            page.get_by_role("region", name="Workers and queue").get_by_role("row")
        ).to_have_count(2)
    expect(page.get_by_text("The service cannot be reached.").first).to_be_visible()
    expect(page.get_by_text("There is no session yet.")).to_be_visible()


@pytest.mark.slow
def test_each_role_sees_what_it_may_do(
    open_page: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labelers see sessions; viewers read; tuners create; admins delete too."""
    file = tmp_path / "tokens.json"
    shown = {
        role: tokens.create(file, name=f"{role}-1", project="default", role=role)[1]
        for role in ("viewer", "labeler", "tuner", "admin")
    }
    monkeypatch.setenv("SVDDTUNE_TOKENS", str(file))
    with EmbeddedStack(workers=1, http_listen="127.0.0.1:0") as stack:
        with TuningClient(stack.address, token=shown["tuner"]) as client:
            dataset = client.upload_dataset(np.random.default_rng(9).normal(size=(20, 2)), name="d")
            client.create_session(dataset, name="shared", overlap=2, budget=1)
            client.upload_dataset(np.random.default_rng(10).normal(size=(20, 2)), name="unused")
        for role, token in shown.items():
            page = open_page(url=str(stack.info["http"]))
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            reads = role != "labeler"
            labels = page.get_by_role("banner").get_by_role("link", name="Label")
            if not reads:
                # Who can do nothing else comes to the next question.
                page.get_by_role("heading", name="Label shared").wait_for()
                page.get_by_role("link", name="svddtune").click()
            page.get_by_role("link", name="shared", exact=True).wait_for()
            expect(labels).to_have_count(int(role != "viewer"))
            expect(page.get_by_role("heading", name="Datasets")).to_have_count(int(reads))
            if reads:
                page.get_by_role("rowheader", name="unused").wait_for()
            create = page.get_by_role("link", name="New session")
            expect(create).to_have_count(int(role in {"tuner", "admin"}))
            delete = page.get_by_role("button", name="Delete unused")
            expect(delete).to_have_count(int(role == "admin"))
            page.goto(f"{page.url.split('#')[0]}#/create")
            expect(page.get_by_text("Your role may not create sessions.")).to_have_count(
                int(role in {"viewer", "labeler"})
            )


@pytest.mark.slow
def test_a_session_that_stands_still_says_why(
    open_page: Opens, console_client: TuningClient
) -> None:
    """One of two votes is there, the budget is spent, and nobody gives the other one."""
    X = np.random.default_rng(91).normal(size=(30, 2))
    session = console_client.create_session(
        console_client.upload_dataset(X), name="stands still", overlap=2, budget=1
    )
    with console_client.tuning(session, labeler="ann") as tuning:
        tuning.answer(next(iter(tuning.queries())), "inlier")
        page = open_page()
        page.get_by_label("Name contains").fill("stands still")
        expect(page.get_by_text("waits for further votes")).to_be_visible()
    console_client.delete_session(session)
    expect(page.get_by_text("No such sessions.")).to_be_visible()
