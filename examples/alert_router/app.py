"""The web application that receives clicks on links."""

from __future__ import annotations

from html import escape

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from alert_router.links import Links
from alert_router.router import Router

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Alert router</title>
<style>body {{ font: 1.2rem sans-serif; margin: 3rem }} button {{ font: inherit }}</style>
<p>{words}</p>
{more}
</html>
"""
# A GET changes nothing, because chats, mail gateways and virus scanners fetch links. A
# browser posts at once.
_FORM = """<form method="post" id="click"><button>Send</button></form>
<script>document.getElementById("click").submit()</script>"""


def create_app(router: Router, links: Links) -> Starlette:
    """Return the application: GET and POST of /click/{token}, and /health."""

    async def look(request: Request) -> Response:
        click = links.read(request.path_params["token"])
        if click is None:
            return _page(403, "This link was not made here.")
        return _page(200, f"Your answer: {click.choice}.", _FORM)

    async def click(request: Request) -> Response:
        found = links.read(request.path_params["token"])
        if found is None:
            return _page(403, "This link was not made here.")
        return _page(*await router.click(found))

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok")

    return Starlette(
        routes=[
            Route("/click/{token}", look, methods=["GET"]),
            Route("/click/{token}", click, methods=["POST"]),
            Route("/health", health),
        ]
    )


def _page(status: int, words: str, more: str = "") -> HTMLResponse:
    return HTMLResponse(_PAGE.format(words=escape(words), more=more), status_code=status)
