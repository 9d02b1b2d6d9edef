"""Traces: what a process does, as spans that an OpenTelemetry collector gets.

A span goes from process to process as the text of W3C's header ``traceparent``. Without ``begin``
nothing is recorded, and the library is not imported.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any
from uuid import uuid4

HEADER = "traceparent"
_TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-")
# An export that takes longer is given up: a process that ends waits for the last one.
_EXPORT_S = 3.0

_recorder: "_Recorder | None" = None
_ending = threading.Lock()
_called_from: ContextVar[str] = ContextVar("called_from", default="")


class TracesUnavailable(Exception):
    """The packages for traces are not installed. The message is one line for the operator."""


def begin(endpoint: str, process: str) -> None:
    """Record spans from now on, for the collector at a URL; nothing where that is empty.

    ``process`` is the name of the service that the spans show. Raises TracesUnavailable.
    """
    global _recorder
    if not endpoint:
        return
    try:
        _recorder = _Recorder(endpoint, process)
    except ImportError:
        raise TracesUnavailable(
            f"--otlp-endpoint is {endpoint!r}: traces need further packages; "
            "pip install 'svddtune[telemetry]'."
        ) from None


def end() -> None:
    """Send what has been recorded, and record no more. Whoever calls it second waits as well."""
    global _recorder
    with _ending:
        recorder, _recorder = _recorder, None
        if recorder is not None:
            recorder.end()


def called_with(metadata: Callable[[], Iterable[tuple[str, object]] | None]) -> None:
    """Let the spans of the task that serves a call continue the caller's trace, if it sent one.

    Nothing asks for the metadata while nothing is recorded.
    """
    if _recorder is not None:
        _called_from.set(str(dict(metadata() or ()).get(HEADER, "")))


def trace_id() -> str:
    """The trace that is recorded here, in hexadecimal digits; "" where nothing is recorded."""
    recorder = _recorder
    if recorder is None:
        return ""
    return recorder.trace_id() or trace_of(_called_from.get())


def trace_of(traceparent: str) -> str:
    """The trace that a span belongs to; "" where that cannot be read."""
    found = _TRACE.match(traceparent)
    return found[1] if found else ""


@contextmanager
def span(name: str, parent: str = "", **attributes: str | int) -> Iterator[str]:
    """Record what is done here as a span: its ``traceparent``, or "" where nothing is recorded.

    Its parent is the span of another process that ``parent`` names, else that of the caller.
    """
    # (Another thread may end the traces meanwhile.)
    recorder = _recorder
    if recorder is None:
        yield ""
        return
    with recorder.span(name, parent or _called_from.get(), attributes) as traceparent:
        yield traceparent


class _Recorder:
    def __init__(self, endpoint: str, process: str) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import get_current_span
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        about = {
            "service.name": process,
            "service.version": version("svddtune"),
            "service.instance.id": uuid4().hex,
        }
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=_EXPORT_S)
        # (A worker ends without what Python does at exit.)
        self._provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("svddtune")
        self._current_span = get_current_span
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(self, name: str, parent: str, attributes: Mapping[str, Any]) -> Iterator[str]:
        # (A parent that cannot be read is none.)
        context = self._propagator.extract({HEADER: parent}) if parent else None
        with self._tracer.start_as_current_span(name, context, attributes=dict(attributes)):
            carrier: dict[str, str] = {}
            self._propagator.inject(carrier)
            yield carrier[HEADER]

    def trace_id(self) -> str:
        """The trace of the span that is open here; "" without one."""
        found = self._current_span().get_span_context()
        return format(found.trace_id, "032x") if found.is_valid else ""

    def end(self) -> None:
        self._provider.shutdown()
