"""Write docs/conformance.md: what the conformance suite finds in each client and in the service.

::

    python -m tests.clients.conformance_page [LANGUAGE ...]

It tests the clients of these languages, or of all, beside the Python client. A client that is
left out, whose toolchain is missing, or that has no program for the suite, is named below the
table. It exits with 1 if anything failed; the page says so too.
"""

import asyncio
import sys

import pytest
from conformance import report
from conformance.__main__ import play_all, play_all_to_server
from conformance.program import Client
from tests.clients.languages import OTHERS, ROOT
from tests.conformance.test_python_client import PYTHON

from svddtune.client import EmbeddedStack

PAGE = ROOT / "docs" / "conformance.md"
NAMES = {"go": "Go", "typescript": "TypeScript", "java": "Java", "rust": "Rust"}
TEXT = """\
# Conformance

Clients in all languages, and the service, are tested against one suite of scripts. A script says
what each side of the dialogue sends and what breaks in between. Vectors hold encoded values and
what they mean. `conformance/README.md` tells how to run the suite, also for a client in another
language.

`python -m tests.clients.conformance_page` writes this page; this one is about version {version}.
The Python client and the service have to pass the same scripts with each change (`make check`),
the other clients with `make test-clients`.

## Clients

The fake server of the suite plays each script to a program made with the client. "Not supported"
means that the client does not offer what the script needs.

{clients}
## Service

The driver of the suite plays the client's side of each script against a service with one worker.

{service}"""


def main() -> None:
    """Test everything and write the page."""
    clients = {"Python": asyncio.run(play_all(PYTHON))}
    missing = {}
    for language in OTHERS:
        name = NAMES[language.name]
        if sys.argv[1:] and language.name not in sys.argv[1:]:
            missing[name] = "the run that wrote this page left it out"
            continue
        if not language.conformance:
            missing[name] = "its client has no program for the suite"
            continue
        try:
            language.build_all()
        except pytest.skip.Exception as skipped:
            missing[name] = str(skipped)
            continue
        client = Client(language.conformance, ROOT / language.folder, language.abilities)
        clients[name] = asyncio.run(play_all(client))
        print(f"{name}: {report.summary_of(clients[name])}", flush=True)
    with EmbeddedStack(workers=1) as stack:
        service = asyncio.run(play_all_to_server(stack.address, "*"))
    print(f"service: {report.summary_of(service)}")
    page = TEXT.format(
        version=(ROOT / "VERSION").read_text().strip(),
        clients=report.page_of(clients, missing),
        service=report.page_of({"Outcome": service}, {}),
    )
    PAGE.write_text(page)
    failed = [one for outcomes in (*clients.values(), service) for one in outcomes if one.failure]
    for one in failed:
        print(f"{one.name}: {one.failure}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
