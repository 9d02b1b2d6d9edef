"""What every line of a log carries, and what none may."""

import json
import subprocess
import sys

PROGRAM = """
import logging
from structlog.contextvars import bound_contextvars
from svddtune.process.logs import set_up_logging
set_up_logging("json", "debug")
with bound_contextvars(job="7-0", session_id="p00-1"):
    logging.getLogger("store").debug("lost redis://ann:geheim@host:6379/0?password=geheim")
logging.getLogger("store").debug("between jobs")
"""


def test_line_names_its_job_and_session_and_hides_passwords() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    within, after = (json.loads(line) for line in run.stderr.splitlines())
    assert (within["job"], within["session_id"]) == ("7-0", "p00-1")
    assert "host:6379" in within["event"]
    assert "geheim" not in run.stderr
    assert "job" not in after
