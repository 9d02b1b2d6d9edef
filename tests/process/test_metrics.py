"""Where Prometheus finds the processes of a machine."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from prometheus_client import CollectorRegistry

from svddtune.process.metrics import Exposition, StoreMetrics


def test_address_is_left_while_a_process_runs_and_that_of_a_dead_one_removed(
    tmp_path: Path,
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    old = tmp_path / f"worker-{dead.pid}.json"
    old.write_text("[]")
    foreign = tmp_path / "others.json"
    foreign.write_text("[]")
    registry = CollectorRegistry()
    StoreMetrics(registry).script_ran("answer", 0.002)
    shown = Exposition(registry, "127.0.0.1:0", "worker", targets=tmp_path)
    try:
        assert not old.exists()
        (own,) = set(tmp_path.iterdir()) - {foreign}
        (target,) = json.loads(own.read_text())
        assert target["labels"] == {"job": "svddtune-worker"}
        with urllib.request.urlopen(f"http://{target['targets'][0]}/metrics") as response:
            text = response.read().decode()
        assert 'svddtune_script_seconds_count{script="answer"} 1.0' in text
    finally:
        shown.close()
    assert set(tmp_path.iterdir()) == {foreign}
