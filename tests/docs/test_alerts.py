"""The alert rules and the dashboard for those who run svddtune, checked by their own tools."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools.debian import TOOLS

FILES = Path(__file__).parents[2] / "deploy" / "observability"


def promtool(*arguments: str) -> None:
    """Run promtool where it is."""
    program = shutil.which("promtool", path=f"{TOOLS}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip("`make test-tools` fetches promtool on Debian")
    run = subprocess.run([program, *arguments], cwd=FILES, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_promtool_takes_the_rules() -> None:
    promtool("check", "rules", "alerts.yaml")


def test_each_alert_fires_when_its_tests_say_so() -> None:
    promtool("test", "rules", "alerts_test.yaml")


def test_each_alert_has_a_test_where_it_fires_and_one_where_it_does_not() -> None:
    rules = re.findall(r"alert: (\w+)", (FILES / "alerts.yaml").read_text())
    tests = (FILES / "alerts_test.yaml").read_text()
    fires = re.findall(r"alertname: (\w+)\n +exp_alerts:\n", tests)
    quiet = re.findall(r"alertname: (\w+)\n +exp_alerts: \[\]\n", tests)
    assert sorted(fires) == sorted(quiet) == sorted(rules)


def test_dashboard_has_panels_that_do_not_overlap() -> None:
    dashboard = json.loads((FILES / "dashboard.json").read_text())
    places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in dashboard["panels"]]
    assert len(set(places)) == len(places) > 10
    for panel in dashboard["panels"]:
        assert panel["targets"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
