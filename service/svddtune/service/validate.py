"""Requests checked: defaults put in, ranges held, faults named by field, value and range."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ParamSpec, TypeVar
from uuid import UUID

from svddtune.config import (
    InvalidConfig,
    SessionConfig,
    Violation,
    checked,
    from_proto,
    visible_columns,
)
from svddtune.cost import CostEstimate, estimate, size
from svddtune.service import names
from svddtune.state import codec
from svddtune.state.calls import refusal
from svddtune.state.errors import FieldViolation, InvalidFields, InvalidInput, TooLarge
from svddtune.state.session import Answer, ControlItem, InitialLabel, Session, SessionId, Verdict
from svddtune.v1 import config_pb2, dataset_pb2, oracle_pb2, tuning_pb2

Number = TypeVar("Number", int, float)
P = ParamSpec("P")
T = TypeVar("T")

# What gRPC takes by default; HTTP takes the same.
LARGEST_MESSAGE = 4 << 20
LONGEST_DISPLAY_NAME = 128
LONGEST_ANSWER_ID = 128
LONGEST_REQUEST_ID = 128
LONGEST_CLIENT = 64
LONGEST_SOURCE_REFERENCE = 256
LONGEST_PROVENANCE = 256
LONGEST_WAIT_S = 60.0
LONGEST_RETENTION_S = 315_360_000
LARGEST_BATCH = 1000
MOST_CREDIT = 1000
MOST_SESSIONS = 100
MOST_INITIAL_LABELS = 10_000
MOST_CONTROLS = 1000
DEFAULT_PAGE = 50
LARGEST_PAGE = 1000
MOST_LABELS = 16
MOST_TAGS = 16
LONGEST_LABEL = 128

_LABEL_KEY = re.compile(r"[a-z0-9_-]{1,63}")
_LABEL_KEYS = 'lower-case letters, digits, "_" and "-", 1 to 63 of them'

_LABELER = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_VERDICTS: dict[int, Verdict] = {number: verdict for verdict, number in codec.VERDICTS.items()}


def invalid_field(field: str, value: object, allowed: str) -> InvalidInput:
    """The error of a field that holds what it must not."""
    shown = repr(value)
    if len(shown) > 100:
        shown = shown[:100] + " ..."
    return InvalidInput(
        "INVALID_FIELD",
        f"{field} is {shown}; allowed: {allowed}.",
        field=field,
        value=value,
        allowed=allowed,
    )


def in_range(field: str, value: Number, low: Number, high: Number) -> Number:
    """The value. Raises InvalidInput unless low <= value <= high; NaN is out of range."""
    if not low <= value <= high:
        raise invalid_field(field, value, f"{low:g} to {high:g}")
    return value


def retention_ms(field: str, seconds: float) -> int:
    """The time for which something is kept, in ms; 0 for good.

    Raises InvalidInput unless it is 0, or from a second to ten years.
    """
    if seconds != 0 and not 1 <= seconds <= LONGEST_RETENTION_S:
        raise invalid_field(field, seconds, f"0 (for good), or 1 to {LONGEST_RETENTION_S}")
    return round(1000 * seconds)


def at_most_bytes(field: str, text: str, most: int) -> str:
    """The text. Raises InvalidInput if it is longer than ``most`` bytes of UTF-8."""
    if len(text.encode()) > most:
        raise invalid_field(field, text, f"at most {most} bytes")
    return text


def is_labeler(text: str) -> bool:
    """Whether a labeler can have this name."""
    return _LABELER.fullmatch(text) is not None


def labeler(text: str, field: str = "labeler") -> str:
    """The labeler. Raises InvalidInput if the text is no labeler's name."""
    if not is_labeler(text):
        raise invalid_field(field, text, 'letters, digits and "._@-", 1 to 64 of them')
    return text


def verdict(number: int, field: str = "verdict") -> Verdict:
    """The verdict of an enum's number. Raises InvalidInput for an unknown one."""
    found = _VERDICTS.get(number)
    if found is None:
        raise invalid_field(field, number, "VERDICT_INLIER, VERDICT_OUTLIER or VERDICT_UNSURE")
    return found


def confidence(
    message: oracle_pb2.Answer | tuning_pb2.InitialLabel,
    verdict: Verdict,
    field: str = "confidence",
) -> float | None:
    """The confidence in a verdict, None if absent. Raises InvalidInput (``INVALID_FIELD``)."""
    if not message.HasField("confidence"):
        return None
    if verdict is Verdict.UNSURE:
        raise invalid_field(field, message.confidence, "nothing with VERDICT_UNSURE")
    if not 0.5 < message.confidence <= 1.0:
        raise invalid_field(field, message.confidence, "above 0.5, at most 1, or nothing")
    return message.confidence


def session_names(texts: Sequence[str], field: str = "sessions") -> tuple[SessionId, ...]:
    """The ids of the sessions named, each once. Raises InvalidInput, NotFound."""
    in_range(f"len({field})", len(texts), 0, MOST_SESSIONS)
    found = (names.session_id(text, f"{field}[{i}]") for i, text in enumerate(texts))
    return tuple(dict.fromkeys(found))


def is_automated(kind: int) -> bool:
    """Whether the labeler is a program. Raises InvalidInput for an unknown kind."""
    if kind not in oracle_pb2.LabelerKind.values():
        raise invalid_field("kind", kind, "LABELER_KIND_HUMAN or _AUTOMATED")
    return kind == oracle_pb2.LABELER_KIND_AUTOMATED


def tags(given: Sequence[str]) -> tuple[str, ...]:
    """What a labeler says of itself. Raises InvalidInput."""
    if len(given) > MOST_TAGS or not all(map(_LABELER.fullmatch, given)):
        allowed = f'at most {MOST_TAGS} tags of 1 to 64 letters, digits and characters of "._@-"'
        raise invalid_field("tags", list(given), allowed)
    return tuple(given)


def request_id(text: str) -> str:
    """The request id in one spelling. Raises InvalidInput unless it is a UUID or empty."""
    return _uuid("request_id", text, "a UUID, or nothing") if text else ""


def upload_id(text: str, field: str = "upload_id") -> str:
    """The upload id in one spelling. Raises InvalidInput unless it is a UUID."""
    return _uuid(field, text, "a UUID")


def _uuid(field: str, text: str, expected: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise invalid_field(field, text, expected) from None


def answer_id(text: str, field: str = "answer_id") -> str:
    """The answer id. Raises InvalidInput unless it has 1 to 128 bytes."""
    if not text:
        raise invalid_field(field, text, f"1 to {LONGEST_ANSWER_ID} bytes")
    return at_most_bytes(field, text, LONGEST_ANSWER_ID)


def answer(message: oracle_pb2.Answer, labeler: str, holder: str) -> Answer:
    """The answer, whose row is still to be found. Raises InvalidInput (``INVALID_FIELD``)."""
    given = verdict(message.verdict)
    return Answer(
        answer_id=answer_id(message.answer_id),
        labeler=labeler,
        holder=holder,
        verdict=given,
        query=message.query,
        lease_id=message.lease_id,
        source_reference=at_most_bytes(
            "source_reference", message.source_reference, LONGEST_SOURCE_REFERENCE
        ),
        provenance=at_most_bytes("provenance", message.provenance, LONGEST_PROVENANCE),
        confidence=confidence(message, given),
        replace=message.replace,
    )


def unasked(message: oracle_pb2.Answer, labeler: str, holder: str) -> Answer:
    """As ``answer``, of an answer that names no query. Raises InvalidInput (``INVALID_FIELD``)."""
    if message.query:
        raise invalid_field("query", message.query, "0 in a batch")
    if message.lease_id:
        raise invalid_field("lease_id", message.lease_id, "nothing in a batch")
    return answer(message, labeler, holder)


def session_of_batch(name: str, session_id: SessionId) -> None:
    """Raise InvalidInput if an answer names another session than the batch that it is in."""
    if name and names.session_id(name, "session") != session_id:
        raise invalid_field("session", name, "the session of the batch, or nothing")


def page_size(number: int, default: int = DEFAULT_PAGE, most: int = LARGEST_PAGE) -> int:
    """Entries per page: the default for 0, at most ``most``.

    Raises InvalidInput (``INVALID_FIELD``) for a negative number.
    """
    if number < 0:
        raise invalid_field("page_size", number, f"0 to {most}; more stands for {most}")
    return min(number, most) or default


def labels(field: str, given: Mapping[str, str]) -> dict[str, str]:
    """Labels of a session or dataset. Raises InvalidFields with all that is wrong."""
    faults = Faults()
    if len(given) > MOST_LABELS:
        with faults.caught():
            raise invalid_field(field, f"{len(given)} labels", f"at most {MOST_LABELS}")
    for key, value in sorted(given.items()):
        with faults.caught():
            if not _LABEL_KEY.fullmatch(key):
                raise invalid_field(field, key, _LABEL_KEYS)
        with faults.caught():
            at_most_bytes(f"{field}.{key[:63]}", value, LONGEST_LABEL)
    faults.check()
    return dict(given)


def label_filter(texts: Sequence[str], field: str = "labels") -> list[tuple[str, str]]:
    """Labels that a filter asks for, each "key=value". Raises InvalidInput (``INVALID_FIELD``)."""
    found = []
    for index, text in enumerate(texts):
        key, sign, value = text.partition("=")
        if not sign or not _LABEL_KEY.fullmatch(key):
            raise invalid_field(f"{field}[{index}]", text, f"key=value; a key has {_LABEL_KEYS}")
        found.append((key, value))
    return found


class Faults:
    """Faults of a request, gathered so that its caller learns all of them at once."""

    def __init__(self) -> None:
        self._found: list[FieldViolation] = []
        self._first: InvalidInput | None = None

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Keep the fault of a field that the body raises, and go on behind the body."""
        try:
            yield
        except InvalidInput as error:
            field = error.metadata.get("field", "")
            self._found += (
                error.violations
                if isinstance(error, InvalidFields)
                else [FieldViolation(field, error.message, error.reason)]
            )
            self._first = self._first or error

    def of(self, check: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """What a check returns; None if it raises the fault of a field, which is kept."""
        with self.caught():
            return check(*args, **kwargs)
        return None

    @property
    def any(self) -> bool:
        """Whether there was a fault."""
        return self._first is not None

    def check(self) -> None:
        """Raise InvalidInput if there was a fault."""
        if self.any:
            raise self.error()

    def error(self) -> InvalidInput:
        """All faults, of which there is one; reason and values are those of the first."""
        assert self._first is not None, "there was no fault"
        if len(self._found) == 1:
            return self._first
        values = {key: one for key, one in self._first.metadata.items() if key != "field"}
        return InvalidFields(self._found, **values)


def session_config(
    message: config_pb2.SessionConfig, observation_count: int | None = None
) -> SessionConfig:
    """The config in force: zeros replaced by defaults.

    Raises InvalidInput (``INVALID_FIELD``, ``BUDGET_TOO_LARGE``) with all that is wrong.
    """
    try:
        return checked(from_proto(message), observation_count)
    except InvalidConfig as error:
        raise _invalid_settings(error.violations, "config.") from None


def visible_features(config: SessionConfig, dataset: dataset_pb2.Dataset) -> None:
    """Check that the dataset has the features that labelers are to see. Raises InvalidInput."""
    try:
        visible_columns(config, dataset.feature_names, dataset.feature_count)
    except InvalidConfig as error:
        raise _invalid_settings(error.violations, "config.") from None


def affordable(
    dataset: dataset_pb2.Dataset, config: SessionConfig, most_bytes: int
) -> CostEstimate:
    """What a session on a dataset is expected to cost.

    ``most_bytes`` is the memory that a worker may use. Raises TooLarge (``SESSION_TOO_LARGE``).
    """
    found = estimate(
        dataset.observation_count,
        dataset.feature_count,
        several=dataset.scaling == dataset_pb2.SCALING_KIND_AUTO,
        atlas=config.needs_atlas,
    )
    if found.memory_bytes > most_bytes:
        raise TooLarge(
            "SESSION_TOO_LARGE",
            f"A session on {dataset.observation_count} observations x {dataset.feature_count} "
            f"features would take a worker about {size(found.memory_bytes)}, and it may use "
            f"{size(most_bytes)}. Upload fewer observations or features, or let service and "
            f"workers use more (--memory-mib).",
            estimate=found.memory_bytes,
            limit=most_bytes,
        )
    return found


def budget(number: int, session: Session) -> int:
    """A new budget of a session. Raises InvalidInput as the change of a session does."""
    field, labels = "session.config.budget", session.counts.total
    if number > session.observation_count:
        raise refusal(
            "BUDGET_TOO_LARGE", {"n": session.observation_count, "field": field}, {"budget": number}
        )
    if number < labels:
        raise refusal("BUDGET_TOO_SMALL", {"labels": labels, "field": field}, {"budget": number})
    return number


def priority(number: int) -> int:
    """The priority of a session. Raises InvalidInput (``INVALID_FIELD``)."""
    return _changed(SessionConfig(priority=number)).priority


def trusts(given: Mapping[str, float]) -> Mapping[str, float]:
    """The trusts of a session. Raises InvalidInput (``INVALID_FIELD``)."""
    return _changed(SessionConfig(trusts=dict(given))).trusts


def _changed(config: SessionConfig) -> SessionConfig:
    try:
        return checked(config)
    except InvalidConfig as error:
        raise _invalid_settings(error.violations, "session.config.") from None


def _invalid_settings(violations: Sequence[Violation], prefix: str = "") -> InvalidFields:
    found = [
        FieldViolation(
            prefix + one.setting.wire[0], one.about(prefix + one.setting.name), one.reason
        )
        for one in violations
    ]
    return InvalidFields(found, value=violations[0].value, allowed=violations[0].allowed)


def initial_labels(
    messages: Sequence[tuning_pb2.InitialLabel],
    rows: Sequence[int | None],
    config: SessionConfig | None,
) -> list[InitialLabel]:
    """Labels known at the start; the same label given twice counts once.

    Raises InvalidInput (``UNKNOWN_OBSERVATION``, ``CONFLICTING_LABELS``, ``BUDGET_TOO_SMALL``,
    ``INVALID_FIELD``).
    """
    found: dict[int, InitialLabel] = {}
    faults = Faults()
    for index, (message, row) in enumerate(zip(messages, rows, strict=True)):
        with faults.caught():
            _add_initial(found, message, row, f"initial_labels[{index}]")
    with faults.caught():
        if config is not None and len(found) > config.budget:
            raise InvalidInput(
                "BUDGET_TOO_SMALL",
                f"Budget {config.budget} is below the {len(found)} initial labels.",
                field="config.budget",
                budget=config.budget,
                labels=len(found),
            )
    faults.check()
    return list(found.values())


def _add_initial(
    found: dict[int, InitialLabel], message: tuning_pb2.InitialLabel, row: int | None, field: str
) -> None:
    if row is None:
        raise unknown_observation(message.observation_id, f"{field}.observation_id")
    given = verdict(message.verdict, f"{field}.verdict")
    if given is Verdict.UNSURE:
        raise invalid_field(f"{field}.verdict", "UNSURE", "VERDICT_INLIER or VERDICT_OUTLIER")
    source = at_most_bytes(
        f"{field}.source_reference", message.source_reference, LONGEST_SOURCE_REFERENCE
    )
    known = found.setdefault(
        row,
        InitialLabel(row, given, source, confidence(message, given, f"{field}.confidence")),
    )
    if known.verdict is not given:
        raise InvalidInput(
            "CONFLICTING_LABELS",
            f"Observation {message.observation_id!r} (row {row}) is labelled both "
            f"{known.verdict.name} and {given.name}.",
            field=field,
            observation=message.observation_id,
            row=row,
        )


def controls(
    messages: Sequence[tuning_pb2.ControlItem],
    rows: Sequence[int | None],
    initial: Collection[int],
) -> list[ControlItem]:
    """Control items; ``initial`` are the rows of initial labels.

    Raises InvalidInput (``UNKNOWN_OBSERVATION``, ``CONFLICTING_LABELS``, ``INVALID_FIELD``).
    """
    found: dict[int, ControlItem] = {}
    faults = Faults()
    for index, (message, row) in enumerate(zip(messages, rows, strict=True)):
        field = f"controls[{index}]"
        with faults.caught():
            if row is None:
                raise unknown_observation(message.observation_id, f"{field}.observation_id")
            given = verdict(message.verdict, f"{field}.verdict")
            if given is Verdict.UNSURE:
                raise invalid_field(
                    f"{field}.verdict", "UNSURE", "VERDICT_INLIER or VERDICT_OUTLIER"
                )
            if row in initial or row in found:
                where = "an initial label" if row in initial else "given twice"
                raise InvalidInput(
                    "CONFLICTING_LABELS",
                    f"Control item {message.observation_id!r} (row {row}) is {where}: name an "
                    "observation once, as a control item or with an initial label.",
                    field=field,
                    observation=message.observation_id,
                    row=row,
                )
            found[row] = ControlItem(row, given)
    faults.check()
    return list(found.values())


def some_to_ask(controls: int, observation_count: int) -> None:
    """Raise InvalidInput (``INVALID_FIELD``) unless control items leave something to ask about."""
    if controls >= observation_count:
        allowed = f"fewer than the {observation_count} observations of the dataset"
        raise invalid_field("len(controls)", controls, allowed)


def unknown_observation(observation_id: str, field: str = "observation_id") -> InvalidInput:
    """The error of an observation that is not in the dataset."""
    return InvalidInput(
        "UNKNOWN_OBSERVATION",
        f"The dataset has no observation {observation_id[:100]!r}.",
        field=field,
        observation=observation_id,
    )


def rows_within(field: str, rows: Sequence[int], observation_count: int) -> None:
    """Raise InvalidInput (``ROW_OUT_OF_RANGE``) unless all rows are in the dataset."""
    last = max(rows, default=0)
    if last >= observation_count:
        raise InvalidInput(
            "ROW_OUT_OF_RANGE",
            f"{field} has row {last}, but the last row of the dataset is {observation_count - 1}; "
            "rows are counted from 0.",
            field=field,
            row=last,
            n=observation_count,
        )
