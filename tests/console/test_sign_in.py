"""Signing in: by a token or at an OpenID Connect issuer, and what each role sees then."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.console.axe import violations
from tests.console.finished import Finished
from tests.console.issuer import AUDIENCE, CLIENT_ID, Issuer, issuing
from tests.console.labeling import new_session
from tests.e2e.processes import service

from svddtune.client import EmbeddedStack, TuningClient
from svddtune.process import tokens

pytestmark = pytest.mark.integration

ROLES = ("viewer", "labeler", "tuner", "admin")
OpenPage = Callable[..., Page]


@dataclass(frozen=True)
class Guarded:
    """A service that asks who calls, with its tokens, on the sessions of the console's stack."""

    url: str
    file: Path
    log: Path
    by_role: dict[str, str]
    asking: str
    finished: Finished


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as found:
        yield found


@pytest.fixture(scope="module")
def guarded(
    console_stack: EmbeddedStack,
    finished: Finished,
    issuer: Issuer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("sign-in")
    file, log = folder / "tokens.json", folder / "log"
    by_role = {
        role: tokens.create(file, name=f"{role}-1", project="default", role=role)[1]
        for role in ROLES
    }
    with TuningClient(console_stack.address) as client:
        asking = new_session(client).name.partition("/")[2]
    arguments = (
        *("--http-listen", "127.0.0.1:0", "--tokens", str(file)),
        *(
            "--jwt-issuer",
            issuer.url,
            "--jwt-audience",
            AUDIENCE,
            "--jwt-jwks",
            f"{issuer.url}/keys",
        ),
        *("--jwt-client-id", CLIENT_ID),
    )
    redis = str(console_stack.info["redis"])
    with service(redis, "127.0.0.1:0", *arguments, log=log) as process:
        yield Guarded(str(process.ready["http"]), file, log, by_role, asking, finished)


@pytest.fixture(autouse=True)
def reset(issuer: Issuer) -> None:
    issuer.wrong_nonce = issuer.wrong_state = ""
    issuer.denies = False
    issuer.lifetime_s = 3600
    issuer.role = "tuner"
    issuer.grants.clear()


def by_token(page: Page, token: str) -> None:
    page.get_by_text("Show a token instead").click()
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in", exact=True).click()


def at_issuer(page: Page) -> None:
    page.get_by_role("button", name="Sign in at 127.0.0.1").click()


def who(page: Page, name: str) -> None:
    expect(page.locator(".who")).to_have_text(name)


@pytest.mark.parametrize("role", ROLES)
def test_role_decides_what_is_shown(open_page: OpenPage, guarded: Guarded, role: str) -> None:
    page = open_page(f"#/sessions/{guarded.finished.id}/result", url=guarded.url)
    by_token(page, guarded.by_role[role])
    who(page, f"{role}-1")
    if role != "labeler":
        page.locator("table.outside").wait_for()
    else:
        expect(page.get_by_text("Your role, labeler, does not see results.")).to_be_visible()
    page.get_by_role("link", name="svddtune").click()
    page.get_by_role("heading", name="Sessions", exact=True).wait_for()
    rank = ROLES.index(role)
    expect(page.locator("a.button[href='#/create']")).to_have_count(int(rank >= 2))
    page.goto(f"{guarded.url}/#/sessions/{guarded.asking}")
    session = page.get_by_role("main")
    session.get_by_role("heading", level=1).wait_for()
    for name, least in {"Label": 1, "Finish": 2, "Delete": 3}.items():
        kind: Any = "link" if name == "Label" else "button"
        shown = session.get_by_role(kind, name=name, exact=name != "Delete")
        expect(shown).to_have_count(int(rank >= least))


def test_token_that_ends_leads_to_the_sign_in_and_back(
    open_page: OpenPage, guarded: Guarded
) -> None:
    address = f"#/sessions/{guarded.finished.id}/result"
    page = open_page(address, url=guarded.url)
    made, text = tokens.create(guarded.file, name="brief", project="default", role="viewer")
    by_token(page, text)
    page.locator("table.outside").wait_for()
    tokens.revoke(guarded.file, made.id)
    page.get_by_label("Search by id").fill("host")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.locator(".who")).to_have_count(0)
    assert violations(page) == []
    by_token(page, guarded.by_role["viewer"])
    page.locator("table.outside").wait_for()
    assert page.url.endswith(address)


def test_wrong_token_is_refused_in_words(
    open_page: OpenPage, guarded: Guarded, pictures: Path | None
) -> None:
    page = open_page(url=guarded.url, height=420)
    page.get_by_role("heading", name="Sign in").wait_for()
    if pictures:
        page.screenshot(path=pictures / "sign_in.png")
    expect(page.get_by_text("This service asks who you are.")).to_be_visible()
    by_token(page, "svddtune_0123456789ab_nobody")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="token")).to_be_visible()


def test_issuer_signs_in_and_leads_back_to_the_page(
    open_page: OpenPage, guarded: Guarded, issuer: Issuer
) -> None:
    address = f"#/sessions/{guarded.finished.id}/result"
    page = open_page(address, url=guarded.url)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    at_issuer(page)
    who(page, "ann")
    page.locator("table.outside").wait_for()
    # Neither the code nor a token stays in the address, or is kept beyond the tab.
    assert page.url == f"{guarded.url}/{address}"
    token = str(page.evaluate("sessionStorage.getItem('svddtune.token')"))
    assert token.count(".") == 2
    assert page.evaluate("JSON.stringify(localStorage)").find(token) == -1
    assert [one for one in asked if token in one] == []
    assert token not in guarded.log.read_text()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.evaluate("JSON.stringify(sessionStorage)").find(token) == -1


@pytest.mark.slow
def test_token_of_the_issuer_is_renewed_silently(
    open_page: OpenPage, guarded: Guarded, issuer: Issuer
) -> None:
    # (Due at half of its time: at once for a page that looks every few seconds.)
    issuer.lifetime_s = 8
    page = open_page(url=guarded.url)
    at_issuer(page)
    who(page, "ann")
    first = page.evaluate("sessionStorage.getItem('svddtune.token')")
    page.wait_for_function("one => sessionStorage.getItem('svddtune.token') !== one", arg=first)
    who(page, "ann")
    assert issuer.grants[:2] == ["authorization_code", "refresh_token"]
    # Once the issuer renews no more, the token ends, and the person is asked again.
    issuer.forget_renewals()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_token_refused_before_its_end_is_renewed(
    open_page: OpenPage, guarded: Guarded, issuer: Issuer
) -> None:
    page = open_page(url=guarded.url)
    at_issuer(page)
    who(page, "ann")
    # As if the service's clock were ahead of this machine's.
    page.evaluate("sessionStorage.setItem('svddtune.token', 'ended')")
    page.reload()
    who(page, "ann")
    assert issuer.grants == ["authorization_code", "refresh_token"]
    # What cannot be renewed leads to the sign-in, once.
    issuer.forget_renewals()
    page.evaluate("sessionStorage.setItem('svddtune.token', 'ended')")
    page.reload()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"wrong_state": "forged"}, "was not begun in this tab"),
        ({"wrong_nonce": "forged"}, "was not asked for here"),
        ({"denies": True}, "Ann said no."),
    ],
    ids=["state", "nonce", "refusal"],
)
def test_forged_or_refused_sign_in_gives_no_token(
    open_page: OpenPage, guarded: Guarded, issuer: Issuer, fault: dict[str, object], words: str
) -> None:
    for name, value in fault.items():
        setattr(issuer, name, value)
    page = open_page(url=guarded.url)
    at_issuer(page)
    expect(page.get_by_text(words)).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('svddtune.token')") is None
    assert "code=" not in page.url


def test_answer_that_nobody_asked_for_is_not_taken(
    open_page: OpenPage, guarded: Guarded, issuer: Issuer
) -> None:
    page = open_page("?code=stolen&state=forged", url=guarded.url)
    expect(page.get_by_text("was not begun in this tab")).to_be_visible()
    assert issuer.grants == []
    assert "code=" not in page.url


def test_policy_is_widened_to_the_issuer_alone(
    guarded: Guarded, issuer: Issuer, console_url: str
) -> None:
    def policy(url: str) -> dict[str, str]:
        given = httpx.get(url).headers["content-security-policy"].split("; ")
        return {name: values for name, _, values in (one.partition(" ") for one in given)}

    narrow, wide = policy(f"{console_url}/"), policy(f"{guarded.url}/")
    assert wide.pop("connect-src") == f"'self' {issuer.url}"
    assert narrow.pop("connect-src") == "'self'"
    assert wide == narrow
    shown = httpx.get(f"{guarded.url}/v1/server").json()["signIn"]
    assert shown == {"issuer": issuer.url, "clientId": CLIENT_ID, "scopes": ["openid"]}
