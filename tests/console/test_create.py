"""Create: a CSV file becomes a session, in the browser."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from tests.console import axe
from tests.console.labeling import Hands
from tests.proxy import proxy_to
from tests.waiting import wait_until

from svddtune.client import TuningClient
from svddtune.client.files.data import read_data
from svddtune.client.files.read_table import read_table

Opens = Callable[..., Page]
HOSTILE = "<img src=x onerror=alert(1)>"


def machines(rows: int = 60, seed: int = 3) -> bytes:
    """A usual file: a counter, two measures, a time, a text, and labels of some rows."""
    rng = np.random.default_rng(seed)
    lines = ["id,width,height,seen,site,label"]
    for row in range(rows):
        odd = row % 10 == 9
        width, height = rng.normal(5 if odd else 0, 1, 2)
        label = ("outlier" if odd else "inlier") if row < 20 else ""
        lines.append(
            f"{row},{width:.4f},{height:.4f},{1_700_000_000 + 61 * row},hall {row % 3},{label}"
        )
    return ("\n".join(lines) + "\n").encode()


def drop(page: Page, content: bytes, name: str = "machines.csv") -> None:
    """Drop a file on the page, as a person does with the mouse."""
    data = page.evaluate_handle(
        """([name, bytes]) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], name, {type: 'text/csv'}));
            return data;
        }""",
        [name, list(content)],
    )
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": data})


def choose(page: Page, content: bytes, name: str = "machines.csv") -> None:
    """Choose a file by the button, which holds large ones too."""
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )


def test_a_dropped_file_becomes_a_session_whose_dataset_is_the_command_lines(
    open_page: Opens, console_client: TuningClient, tmp_path: Path, pictures: Path | None
) -> None:
    content = machines()
    page = open_page("#/create")
    drop(page, content)
    page.get_by_role("heading", name="machines.csv: 60 rows, 6 columns").wait_for()
    uses = {
        name: page.get_by_label(f"Use of {name}").input_value()
        for name in ("id", "width", "height", "seen", "site", "label")
    }
    assert uses == {
        "id": "id",
        "width": "feature",
        "height": "feature",
        "seen": "display",
        "site": "display",
        "label": "out",
    }
    expect(page.get_by_text("looks like times in seconds since 1970")).to_be_visible()
    page.get_by_role("button", name="Start with these labels").click()
    expect(page.get_by_label("Use of label")).to_have_value("label")
    expect(page.get_by_text("2 features. The first question is expected")).to_be_visible()
    if pictures:
        page.screenshot(path=pictures / "create.png")
    page.get_by_role("button", name="Send the data").click()
    expect(page.get_by_text("20 labels are known.")).to_be_visible()
    expect(page.get_by_text("The first question comes after about")).to_be_visible()
    expect(page.get_by_label("Labels to ask for")).to_have_value("60")
    page.get_by_role("button", name="Start labelling").click()
    page.wait_for_url("**/label")
    session = console_client.get_session(f"sessions/{page.url.split('/')[-2]}")
    assert (session.display_name, session.counts.total) == ("machines", 20)
    # The same file by the command line is the same dataset, since its name is made of its content.
    path = tmp_path / "machines.csv"
    path.write_bytes(content)
    read = read_data(read_table(path), id_column="id", show=["seen", "site"], label_column="label")
    stored = console_client.upload_dataset(
        read.X, observation_ids=read.ids, feature_names=read.feature_names, display=read.display
    )
    assert stored.name == session.dataset


def test_what_the_command_line_refuses_is_refused_until_it_is_corrected(open_page: Opens) -> None:
    page = open_page("#/create")
    drop(page, b"a,b\n1,2\n3\n")
    expect(page.get_by_role("alert")).to_contain_text(
        "machines.csv line 3 has 1 values; expected 2 DATASET_RAGGED"
    )
    drop(page, b"a,b,c\n1,2,1\nnan,3,2\n4,5,1\n7,1,1\n")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("DATASET_NOT_FINITE")
    expect(alert).to_contain_text("line 3 (row 1), column “a”")
    send = page.get_by_role("button", name="Send the data")
    expect(send).to_be_disabled()
    page.get_by_label("Use of a").select_option("out")
    expect(alert).to_have_count(0)
    expect(send).to_be_enabled()
    page.get_by_label("Use of b").select_option("out")
    page.get_by_label("Use of c").select_option("out")
    expect(alert).to_contain_text("DATASET_EMPTY")


def test_labels_that_may_mean_either_class_are_asked_for(open_page: Opens) -> None:
    page = open_page("#/create")
    rows = "".join(f"{row % 7},{row % 5},{int(row % 9 == 0)}\n" for row in range(30))
    drop(page, f"a,b,label\n{rows}".encode())
    page.get_by_role("button", name="Start with these labels").click()
    send = page.get_by_role("button", name="Send the data")
    send.click()
    expect(page.get_by_role("alert")).to_contain_text("LABELS_AMBIGUOUS")
    page.get_by_label("Value that marks an outlier").select_option("1")
    send.click()
    expect(page.get_by_text("30 labels are known.")).to_be_visible()
    expect(page.get_by_text("30 rows equal")).to_have_count(0)
    expect(page.get_by_label("Labels to ask for")).to_have_value("30")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Drop a CSV file here").wait_for()


def test_how_the_file_is_written_is_told_and_can_be_corrected(open_page: Opens) -> None:
    page = open_page("#/create")
    drop(page, "größe;b\n1,5;2\n3,25;4\n5;1,5\n".encode("latin-1"))
    expect(page.get_by_role("alert")).to_contain_text("not UTF-8 text")
    page.get_by_label("Encoding").select_option("windows-1252")
    expect(page.get_by_label("Use of größe")).to_have_value("feature")
    form = page.get_by_text("How the file is written")
    expect(form).to_contain_text(
        "cells separated by semicolons, names in the first row, decimals after “,”"
    )
    form.click()
    page.get_by_label("Decimal sign").select_option(".")
    expect(page.get_by_role("alert")).to_contain_text("DATASET_NOT_NUMERIC")


def test_a_cancelled_dataset_is_taken_back_and_one_that_was_there_is_told(
    open_page: Opens, console_client: TuningClient
) -> None:
    content = machines(seed=11)
    page = open_page("#/create")
    drop(page, content)
    page.get_by_role("button", name="Send the data").click()
    start = page.get_by_role("button", name="Start labelling")
    expect(start).to_be_focused()
    name = page.get_by_text("The data are stored as").inner_text().split()[-1].rstrip(".")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Drop a CSV file here").wait_for()
    assert name not in {one.name for one in console_client.list_datasets()}
    for told in ("The data are stored as", "The service had the same content already"):
        drop(page, content)
        page.get_by_role("button", name="Send the data").click()
        expect(page.get_by_text(told)).to_be_visible()
        page.goto(f"{page.url.split('#')[0]}#/")
        page.get_by_role("link", name="New session").click()


@pytest.mark.slow
def test_what_a_team_needs_is_set_and_tags_are_claimed_by_a_click(
    open_page: Opens, console_client: TuningClient
) -> None:
    page = open_page("#/create")
    drop(page, machines(seed=21), "team.csv")
    page.get_by_role("button", name="Start with these labels").click()
    page.get_by_text("More settings").click()
    page.get_by_label("Answers sought for each row").fill("2")
    page.get_by_label("Adjudicators").fill("dora, eve")
    page.get_by_label("Tags that labelers need").fill("german network")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    page.get_by_label("Due").fill(f"{tomorrow:%Y-%m-%dT%H:%M}")
    page.get_by_label("Check labelers by the known labels").check()
    page.get_by_role("button", name="Send the data").click()
    page.get_by_role("button", name="Start labelling").click()
    page.get_by_label("Your name").fill("ann")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Its questions are for people who know")).to_contain_text(
        "german, network"
    )
    page.get_by_role("button", name="I do").click()
    Hands(page).press("i")
    session = console_client.get_session(f"sessions/{page.url.split('/')[-2]}")
    assert session.config.adjudicators == ("dora", "eve")
    assert session.config.required_tags == ("german", "network")
    assert session.due_time is not None
    # (The page gives it in minutes of its own clock, which is that of this machine.)
    assert abs(session.due_time - tomorrow) < timedelta(minutes=2)
    # The known labels are asked about, and none of them counts.
    expect(page.get_by_text(re.compile(r"^[01] of 50 labels"))).to_be_visible()


@pytest.mark.slow
def test_an_upload_goes_on_where_the_connection_broke(
    open_page: Opens, console_url: str, console_client: TuningClient
) -> None:
    """Most rows have been sent when the connection is cut; they are not sent again."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30_000, 20)).round(6)
    whole = X.nbytes * 4 / 3
    with proxy_to(console_url.removeprefix("http://")) as proxy:
        page = open_page("#/create", url=f"http://{proxy.address}")
        choose(page, b"\n".join(",".join(map(str, row)).encode() for row in X), "large.csv")
        send = page.get_by_role("button", name="Send the data")
        expect(send).to_be_enabled()
        proxy.hold_at(proxy.received + int(0.9 * whole))
        send.click()
        assert proxy.held.wait(20)
        # The page asks how many rows the service has, and gets no answer for a while.
        page.route("**/v1/uploads/*", lambda route: route.abort())
        asked = page.expect_event("requestfailed", lambda one: "/v1/uploads/" in one.url)
        with asked as failed, proxy.unreachable():
            away = page.get_by_text("The service cannot be reached; the upload goes on by itself.")
            expect(away).to_be_visible()
        upload = console_url + urlsplit(failed.value.url).path
        # (The last rows that arrived are not kept by a cut: two parts of 6,000 at most.)
        wait_until(lambda: page.request.get(upload).json()["rowCount"] >= 0.4 * len(X))
        before = proxy.received
        page.unroute("**/v1/uploads/*")
        expect(page.get_by_text("The data are stored as")).to_be_visible(timeout=20_000)
        assert proxy.received - before < 0.65 * whole
    name = page.get_by_text("The data are stored as").inner_text().split()[-1].rstrip(".")
    assert name == console_client.upload_dataset(X).name


@pytest.mark.slow
def test_a_cancelled_upload_stores_nothing(
    open_page: Opens, console_url: str, console_client: TuningClient
) -> None:
    X = np.random.default_rng(6).normal(size=(20_000, 20)).round(6)
    with proxy_to(console_url.removeprefix("http://")) as proxy:
        page = open_page("#/create", url=f"http://{proxy.address}")
        choose(page, b"\n".join(",".join(map(str, row)).encode() for row in X), "cancelled.csv")
        send = page.get_by_role("button", name="Send the data")
        expect(send).to_be_enabled()
        proxy.hold_at(proxy.received + 2_000_000)
        send.click()
        assert proxy.held.wait(20)
        expect(page.get_by_role("progressbar")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        expect(send).to_be_enabled()
        proxy.cut()
    assert not list(console_client.list_datasets(display_name="cancelled"))


@pytest.mark.parametrize(
    ("dark", "width"), [(False, 360), pytest.param(True, 2560, marks=pytest.mark.slow)]
)
def test_hostile_text_stays_text_and_the_page_is_accessible(
    open_page: Opens, dark: bool, width: int
) -> None:
    page = open_page("#/create", dark=dark, width=width)
    content = f'"{HOSTILE}",b,"=cmd|c"\n1,2,"{HOSTILE}"\n2,4,"\u202egnp.exe"\n3,5,x\n'.encode()
    drop(page, content, f"{HOSTILE}.csv")
    page.get_by_role("heading", name=HOSTILE).wait_for()
    expect(page.get_by_role("rowheader", name=f"{HOSTILE} numbers")).to_be_visible()
    assert page.locator("img[src=x]").count() == 0
    assert "\u202e" not in page.locator("main").inner_text()
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_ten_thousand_columns_come_in_pages(open_page: Opens) -> None:
    page = open_page("#/create")
    rng = np.random.default_rng(2)
    rows = [",".join(map(str, row)) for row in rng.normal(size=(5, 10_000)).round(2)]
    choose(page, "\n".join(rows).encode(), "wide.csv")
    page.get_by_text("1 to 50 of 10,000").wait_for()
    page.get_by_role("button", name="Further columns").click()
    expect(page.get_by_label("Use of column 51", exact=True)).to_have_value("feature")
    expect(page.get_by_text("10,000 features. The first question")).to_be_visible()


@pytest.mark.slow
def test_a_hundred_megabytes_are_read_while_the_page_stays_usable(
    open_page: Opens, tmp_path: Path
) -> None:
    rng = np.random.default_rng(4)
    block = "\n".join(",".join(f"{v:.6f}" for v in row) for row in rng.normal(size=(20_000, 10)))
    path = tmp_path / "hundred.csv"
    with path.open("w") as file:
        while file.tell() < 100_000_000:
            file.write(f"{block}\n")
    page = open_page("#/create")
    page.evaluate(
        """() => {
            window.longest = 0;
            let last = performance.now();
            const tick = () => {
                const now = performance.now();
                window.longest = Math.max(window.longest, now - last);
                last = now;
                setTimeout(tick, 10);
            };
            tick();
        }"""
    )
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("heading", name="hundred.csv: 1,").wait_for(timeout=120_000)
    # (Without the worker it is as long as the whole reading takes, some ten seconds.)
    assert page.evaluate("window.longest") < 2000
