"""The page of a session: what it shows while others label, and what can be done on it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect
from tests.console.axe import violations
from tests.e2e.processes import service
from tests.waiting import wait_until

from svddtune.client import Dataset, EmbeddedStack, Session, TuningClient
from svddtune.process import tokens

INLIERS, OUTLIERS = 90, 12
LABELERS = ("ann", "bob")
WIDTHS = (360, 2560)
FRAME_MS = 1000 / 60


def rows() -> np.ndarray:
    """A cloud, and far from it some rows in a ring."""
    rng = np.random.default_rng(5)
    angles = rng.uniform(0, 2 * np.pi, OUTLIERS)
    ring = np.column_stack((np.cos(angles), np.sin(angles))) * rng.uniform(6, 9, (OUTLIERS, 1))
    return np.vstack((rng.normal(size=(INLIERS, 2)), ring))


def truth(observation_id: str) -> str:
    return "outlier" if int(observation_id.removeprefix("row-")) >= INLIERS else "inlier"


def label(client: TuningClient, session: Session, count: int, labeler: str = "ann") -> None:
    """Answer this many queries by the truth."""
    with client.tuning(session, labeler=labeler) as tuning:
        for number, query in enumerate(tuning.queries(), 1):
            tuning.answer(query, truth(query.observation_id))
            if number == count:
                return


def upload(client: TuningClient, left_out: int = 0) -> Dataset:
    made = rows()[left_out:]
    return client.upload_dataset(made, observation_ids=[f"row-{i}" for i in range(len(made))])


@pytest.fixture(scope="module")
def labelled(console_stack: EmbeddedStack) -> Iterator[Session]:
    """A session on which two have labelled the same observations."""
    with TuningClient(console_stack.address) as client:
        session = client.create_session(
            upload(client), name="Ring and cloud", budget=30, overlap=2, overlap_limit=2
        )
        for labeler in LABELERS:
            label(client, session, 14, labeler)
        yield session


def address(session: Session) -> str:
    return f"#/{session.name}"


def section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def test_figures_change_while_a_program_labels(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = console_client.create_session(
        upload(console_client), budget=24, trusts={"cem": 0.75, "dora": 0.9}
    )
    page = open_page(address(session))
    expect(section(page, "Progress")).to_contain_text("0 of 24 labels")
    page.get_by_text("Settings", exact=True).click()
    expect(page.locator("details.about")).to_contain_text("cem: 0.75, dora: 0.9")
    page.evaluate("() => { window.sameDocument = true; }")
    label(console_client, session, 12)
    expect(section(page, "Progress")).to_contain_text("12 of 24 labels")
    figures = section(page, "On 12 labels")
    for name in ("gamma", "C", "Representation", "Cohen's kappa", "Rows outside"):
        expect(figures.get_by_role("term").filter(has_text=name).first).to_be_visible()
    expect(figures).to_contain_text("optimistic")
    expect(page.get_by_text("12 of 12 entries")).to_be_visible()
    history = section(page, "With the labels")
    history.get_by_role("group", name="gamma").or_(
        history.get_by_role("figure", name="gamma")
    ).first.wait_for()
    label(console_client, session, 1)
    expect(section(page, "Progress")).to_contain_text("13 of 24 labels")
    expect(page.get_by_text("13 of 13 entries")).to_be_visible()
    assert page.evaluate("() => window.sameDocument")


@pytest.mark.slow
def test_a_session_is_steered_by_clicks(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = console_client.create_session(upload(console_client), budget=20)
    label(console_client, session, 6)
    page = open_page(address(session))
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("The session is paused: nobody is asked.")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("main").get_by_role("link", name="Label")).to_be_visible()

    change = page.get_by_role("button", name="Change")
    change.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Budget").fill("33")
    dialog.get_by_label("Name").fill("Renamed")
    # Somebody else is faster; what they have set is told before it is overwritten.
    console_client.update_session(session, budget=25)
    dialog.get_by_role("button", name="Change").click()
    expect(dialog.get_by_role("alert")).to_contain_text("ETAG_MISMATCH")
    expect(dialog.get_by_role("alert")).to_contain_text("25")
    dialog.get_by_role("button", name="Change").click()
    expect(page.get_by_role("heading", name="Renamed")).to_be_visible()
    expect(section(page, "Progress")).to_contain_text("6 of 33 labels")
    expect(change).to_be_focused()

    page.get_by_role("button", name="Finish").click()
    page.get_by_role("dialog").get_by_role("button", name="Finish").click()
    expect(page.get_by_role("link", name="Result")).to_be_visible()
    assert console_client.get_session(session).state == "completed"
    # More labels can follow, because the budget is not spent.
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("main").get_by_role("link", name="Label")).to_be_visible()

    page.get_by_role("button", name="Clone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Copy")
    dialog.get_by_label("Start with the 6 labels").check()
    dialog.get_by_role("button", name="Clone").click()
    expect(page.get_by_role("heading", name="Copy")).to_be_visible()
    expect(section(page, "Progress")).to_contain_text("6 of 33 labels")
    page.go_back()
    expect(page.get_by_role("heading", name="Renamed")).to_be_visible()

    page.get_by_role("button", name="Cancel the session").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
    dialog.get_by_label("Type Renamed to go ahead").fill("Renamed")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()
    assert session.name not in [one.name for one in console_client.list_sessions()]


def test_a_labeler_is_withdrawn_after_a_preview_and_reinstated(
    open_page: Callable[..., Page], console_client: TuningClient, labelled: Session
) -> None:
    page = open_page(address(labelled))
    labelers = section(page, "Labelers").first
    expect(labelers).to_contain_text("14 observations have votes of several labelers")
    expect(page.get_by_role("region", name="Agreement of each two labelers")).to_contain_text(
        "14 of 14"
    )
    page.get_by_role("button", name="Withdraw bob").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Votes that become void: 14.")
    assert not any(one.withdrawn for one in console_client.list_labelers(labelled)[0])
    dialog.get_by_role("button", name="Withdraw").click()
    page.get_by_role("button", name="Reinstate bob").click()
    page.get_by_role("dialog").get_by_role("button", name="Reinstate").click()
    expect(page.get_by_role("button", name="Withdraw bob")).to_be_visible()
    assert not any(one.withdrawn for one in console_client.list_labelers(labelled)[0])


@pytest.mark.slow
def test_the_log_is_filtered_and_a_vote_is_retracted(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    session = console_client.create_session(upload(console_client), budget=20)
    label(console_client, session, 4, "ann")
    label(console_client, session, 3, "bob")
    page = open_page(address(session))
    expect(page.get_by_text("7 of 7 entries")).to_be_visible()
    log = section(page, "Log").last
    page.get_by_role("combobox", name="Labeler").select_option("bob")
    expect(page.get_by_text("3 of 7 entries")).to_be_visible()
    expect(log.get_by_role("row")).to_have_count(1 + 3)
    log.get_by_role("button", name="Retract").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Retract").click()
    expect(page.get_by_text("4 of 8 entries")).to_be_visible()
    expect(section(page, "Progress")).to_contain_text("6 of 20 labels")
    expect(log.get_by_role("button", name="Retract")).to_have_count(2)
    log.get_by_role("button", name="Ask again").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Ask again").click()
    expect(section(page, "Progress")).to_contain_text("5 of 20 labels")


@pytest.mark.slow
def test_earlier_entries_of_the_log_are_read_when_somebody_looks_for_them(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    ids = [f"row-{row}" for row in range(INLIERS + OUTLIERS)]
    known = {one: -1 if truth(one) == "outlier" else 1 for one in ids}
    session = console_client.create_session(
        upload(console_client), budget=len(known), initial_labels=known
    )
    page = open_page(address(session))
    expect(page.get_by_text("100 of 100 entries, and earlier ones")).to_be_visible()
    page.get_by_role("combobox", name="Verdict").focus()
    expect(page.get_by_text("102 of 102 entries")).to_be_visible()
    page.get_by_role("combobox", name="Verdict").select_option("outlier")
    expect(page.get_by_text(f"{OUTLIERS} of 102 entries")).to_be_visible()


def test_the_map_and_the_atlas_are_there_for_eyes_and_for_keys(
    open_page: Callable[..., Page], labelled: Session
) -> None:
    page = open_page(address(labelled))
    picture = page.get_by_role("figure", name="Rows by label and side")
    expect(picture).to_contain_text("outside (")
    # Each mark says what it is by its shape, and by a number in the legend.
    marks = [
        picture.get_by_text(f"labelled {label} (").inner_text() for label in ("inlier", "outlier")
    ]
    assert sum(int(mark.split("(")[1].rstrip(")")) for mark in marks) == 14
    expect(picture.locator("path.boundary")).not_to_have_attribute("d", "")
    picture.get_by_role("group", name="Rows by label and side").focus()
    page.keyboard.press("ArrowRight")
    first = picture.get_by_role("status").inner_text()
    assert first.startswith("row-")
    assert "labelled" in first
    page.keyboard.press("ArrowRight")
    expect(picture.get_by_role("status")).not_to_have_text(first)
    picture.get_by_text("As a table").click()
    expect(picture.get_by_role("row")).to_have_count(1 + INLIERS + OUTLIERS)

    atlas = section(page, "Atlas")
    expect(atlas.locator("polygon.best")).to_have_count(2)  # (One is in the legend.)
    choice = atlas.get_by_label("Representation")
    for option in choice.locator("option").all():
        choice.select_option(option.get_attribute("value"))
        name = (option.text_content() or "").split(",")[0]
        figure = atlas.get_by_role("figure", name=f"Expected score, {name}")
        expect(figure.locator("g[shape-rendering] rect").nth(100)).to_be_attached()
    figure.get_by_text("As a table").click()
    heads = figure.get_by_role("columnheader").all_inner_texts()
    assert heads == ["gamma", "C", "Expected score", "Rows outside", "Share of the evidence"]


def test_texts_of_ticks_keep_apart_and_charts_have_tables(
    open_page: Callable[..., Page], labelled: Session
) -> None:
    for width in WIDTHS:
        page = open_page(address(labelled), width=width)
        for name in ("Quality", "Rows by label and side", "Expected score"):
            page.get_by_role("figure", name=name).locator("svg[role=img]").wait_for()
        assert overlapping_ticks(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    figures = page.locator("figure.chart")
    for i in range(figures.count()):
        figure = figures.nth(i)
        figure.get_by_text("As a table").click()
        expect(figure.get_by_role("row").nth(1)).to_be_visible()


def overlapping_ticks(page: Page) -> list[str]:
    """Pairs of texts in one chart, of ticks or axes, whose boxes overlap."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('figure.chart svg[role=img]')].flatMap((svg) => {
          const texts = [...svg.querySelectorAll('text')].map((one) => ({
            text: one.textContent, box: one.getBoundingClientRect() }));
          return texts.flatMap((a, i) => texts.slice(i + 1)
            .filter((b) => a.box.left < b.box.right && b.box.left < a.box.right
              && a.box.top < b.box.bottom && b.box.top < a.box.bottom)
            .map((b) => `${a.text} / ${b.text}`));
        })"""
    )
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_accessible(
    open_page: Callable[..., Page], labelled: Session, dark: bool, pictures: Path | None
) -> None:
    page = open_page(address(labelled), dark=dark)
    page.get_by_role("figure", name="Quality").locator("svg[role=img]").wait_for()
    expect(page.get_by_text(re.compile(r"^(\d+) of \1 entries$"))).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Change").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    if pictures:
        page.get_by_role("figure", name="Expected score").locator("svg[role=img]").wait_for()
        name = "session_map.png" if dark else "session.png"
        page.set_viewport_size({"width": 1280, "height": 1100})
        if dark:
            section(page, "Map of the data").evaluate("(one) => one.scrollIntoView()")
        page.screenshot(path=pictures / name)


@pytest.mark.slow
def test_the_page_is_accessible_and_fits_at_each_width(
    open_page: Callable[..., Page], labelled: Session
) -> None:
    page = open_page(address(labelled))
    page.get_by_role("figure", name="Expected score").locator("svg[role=img]").wait_for()
    for dark in (False, True):
        page.emulate_media(color_scheme="dark" if dark else "light")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function("() => document.documentElement.scrollWidth <= innerWidth")
            assert violations(page) == []


@pytest.mark.slow
def test_without_an_atlas_the_page_shows_what_there_is(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    # (Of the dataset of the other sessions there is an atlas, whatever the strategy.)
    dataset = upload(console_client, left_out=1)
    session = console_client.create_session(dataset, budget=20, strategy="random")
    label(console_client, session, 4)
    page = open_page(address(session))
    expect(section(page, "Progress")).to_contain_text("4 of 20 labels")
    expect(page.get_by_text("gamma", exact=True).first).to_be_visible()
    expect(page.get_by_role("heading", name="Atlas")).to_have_count(0)


def figure(figures: Locator, name: str) -> float:
    """The value beside a name."""
    item = figures.locator("dl > div").filter(has=figures.page.get_by_text(name, exact=True))
    return float(item.get_by_role("definition").inner_text().replace(",", ""))


@pytest.mark.slow
def test_figures_of_the_atlas_are_not_shown_as_the_sessions_own(
    open_page: Callable[..., Page], console_client: TuningClient, labelled: Session
) -> None:
    # (The dataset of `labelled` has an atlas, so that the session has its figures too.)
    session = console_client.create_session(labelled.dataset, budget=20, strategy="lama")
    label(console_client, session, 9)

    def ranked() -> bool:
        now = console_client.get_session(session)
        return now.live is not None and now.live.labels == 9 and not now.ranking_pending

    wait_until(ranked)
    known = console_client.get_session(session)
    assert known.live is not None
    assert known.gamma != pytest.approx(known.live.gamma, rel=0.05)
    page = open_page(address(session))
    own = section(page, "So far")
    expect(own).to_contain_text("Alignment")
    assert figure(own, "gamma") == pytest.approx(known.gamma, rel=0.01)
    assert own.get_by_text("Rows outside").count() == 0
    of_atlas = section(page, "By the atlas, on 9 labels")
    expect(of_atlas).to_contain_text("The session's own strategy does not use them.")
    assert figure(of_atlas, "gamma") == pytest.approx(known.live.gamma, rel=0.01)


@pytest.mark.slow
def test_the_page_goes_on_after_the_service_was_away(
    open_page: Callable[..., Page], redis_url: str
) -> None:
    front = service(redis_url, "127.0.0.1:0", "--http-listen", "127.0.0.1:0")
    at, http = str(front.ready["address"]), str(front.ready["http"])
    with TuningClient(at) as client:
        session = client.create_session(upload(client), name="Before", budget=20)
        page = open_page(address(session), url=http)
        expect(page.get_by_role("heading", name="Before")).to_be_visible()
        # Why nothing goes on is told, with what to do.
        expect(page.get_by_text("No worker has given a sign of life")).to_contain_text(
            "Start a worker"
        )
        front.kill()
        away = page.get_by_text("The service cannot be reached.")
        expect(away).to_be_visible()
        # A page that has not been shown yet waits for its scripts.
        page.evaluate("location.hash = '#/create'")
        expect(away).to_be_visible()
        page.evaluate("history.back()")
        with service(redis_url, at, "--http-listen", http.removeprefix("http://")):
            expect(away).to_have_count(0)
            client.update_session(session, name="After")
            expect(page.get_by_role("heading", name="After")).to_be_visible()
            page.evaluate("location.hash = '#/create'")
            expect(page.get_by_role("heading", name="New session")).to_be_visible()


STEERS = {"Finish", "Pause", "Change", "Clone", "Cancel the session"}
SEEN = {
    "viewer": set(),
    "labeler": {"Label"},
    "tuner": {"Label", *STEERS},
    "admin": {"Label", *STEERS, "Delete"},
}


@pytest.fixture(scope="module")
def guarded(
    console_stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, dict[str, str]]]:
    """Address of a service of the same sessions that asks who calls, and a token of each role."""
    file = tmp_path_factory.mktemp("roles") / "tokens.json"
    by_role = {
        role: tokens.create(file, name=role, project="default", role=role)[1] for role in SEEN
    }
    further = ("--http-listen", "127.0.0.1:0", "--tokens", str(file))
    with service(str(console_stack.info["redis"]), "127.0.0.1:0", *further) as process:
        yield str(process.ready["http"]), by_role


@pytest.mark.slow
@pytest.mark.parametrize("role", SEEN)
def test_the_role_decides_what_is_there(
    open_page: Callable[..., Page],
    labelled: Session,
    guarded: tuple[str, dict[str, str]],
    role: str,
) -> None:
    url, by_role = guarded
    page = open_page(address(labelled), url=url)
    page.get_by_label("Token").fill(by_role[role])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(section(page, "Progress")).to_contain_text("14 of 30 labels")
    actions = page.locator(".actions").get_by_role("button").or_(page.locator(".actions a"))
    assert set(actions.all_inner_texts()) == SEEN[role]
    if role == "labeler":
        # The votes of others are not theirs to see.
        expect(page.get_by_role("heading", name="Labelers")).to_have_count(0)
        expect(page.get_by_role("heading", name="Log")).to_have_count(0)
        return
    expect(page.get_by_role("button", name="Withdraw bob")).to_have_count(int(role == "admin"))


@pytest.mark.slow
@pytest.mark.thorough
def test_a_map_of_2000_rows_follows_the_pointer(
    open_page: Callable[..., Page], console_client: TuningClient
) -> None:
    drawn = np.random.default_rng(1).normal(size=(2000, 4))
    drawn[:100] *= 4
    session = console_client.create_session(console_client.upload_dataset(drawn), budget=20)
    with console_client.tuning(session, labeler="ann") as tuning:
        for number, query in enumerate(tuning.queries(), 1):
            row = int(query.observation_id)
            tuning.answer(query, "outlier" if np.abs(drawn[row]).max() > 4 else "inlier")
            if number == 4:
                break
    page = open_page(address(session))
    figure = page.get_by_role("figure", name="Rows by label and side")
    picture = figure.locator("svg[role=img]")
    picture.wait_for()
    # Few elements, however many rows.
    assert picture.locator("path").count() < 12
    drawn_dots = [one.get_attribute("d") or "" for one in picture.locator("path.dot").all()]
    assert "".join(drawn_dots).count("M") == len(drawn)
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box is not None
    page.evaluate(
        """() => { window.times = [];
          const note = (at) => { window.times.push(at); requestAnimationFrame(note); };
          requestAnimationFrame(note); }"""
    )

    def frame_ms(steps: int, start: float) -> tuple[float, set[str]]:
        """Median time between frames while the pointer moves, and what is said of rows."""
        page.evaluate("() => { window.times.length = 0; }")
        said = set()
        for step in range(steps):
            x = box["x"] + box["width"] * (start + step / 150)
            page.mouse.move(x, box["y"] + box["height"] / 2)
            said.add(figure.get_by_role("status").inner_text())
        return float(np.median(np.diff(page.evaluate("() => window.times")))), said

    # A busy machine draws fewer frames, also where the pointer meets no row.
    aside, _ = frame_ms(30, start=1.1)
    within, said = frame_ms(60, start=0.3)
    assert within < 2 * max(aside, FRAME_MS)
    assert len(said) > 5
