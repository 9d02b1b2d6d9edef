"""Traces cost nothing where they are off, and say what is missing where they cannot be on."""

import subprocess
import sys

import pytest

from svddtune.process import traces


def test_without_a_collector_nothing_is_recorded_or_imported() -> None:
    program = (
        "import sys\n"
        "from svddtune.process import traces\n"
        "traces.begin('', 'svddtune-worker')\n"
        "with traces.span('Job SUGGEST', '00-a-b-01') as trace:\n"
        "    print(repr(trace), any(name.startswith('opentelemetry') for name in sys.modules))\n"
        "traces.end()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["''", "False"]


def test_missing_packages_are_named_with_the_way_to_get_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(traces.TracesUnavailable) as refusal:
        traces.begin("http://127.0.0.1:4318", "svddtune-worker")
    text = str(refusal.value)
    assert "\n" not in text
    assert "--otlp-endpoint" in text
    assert "pip install 'svddtune[telemetry]'" in text
    with traces.span("Answer") as trace:
        assert trace == ""
