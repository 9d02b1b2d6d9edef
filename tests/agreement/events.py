"""Label logs for tests."""

from hypothesis import strategies as st

from svddtune.state.session import LabelEvent, Verdict

KINDS = ("LABELED", "RETRACTED", "UNUSED", "REPEATED", "CHECKED", "WITHDRAWN", "REINSTATED")
NAMES = ("ann", "ben", "cem")


def event(
    kind: str,
    labeler: str,
    row: int = 0,
    verdict: Verdict = Verdict.INLIER,
    *,
    query: int = 0,
    provenance: str = "",
    answer_seconds: float = 0.0,
    time_ms: int = 0,
) -> LabelEvent:
    """A label event with defaults for all other fields."""
    return LabelEvent(
        event_id="",
        kind=kind,
        row=row,
        verdict=verdict,
        labeler=labeler,
        query=query,
        source_reference="",
        answer_id="",
        time_ms=time_ms,
        answer_seconds=answer_seconds,
        provenance=provenance,
    )


def logs() -> st.SearchStrategy[list[LabelEvent]]:
    """Random logs of a few labelers on a few rows."""
    return st.lists(
        st.builds(
            event,
            st.sampled_from(KINDS),
            st.sampled_from(NAMES),
            st.integers(0, 3),
            st.sampled_from(Verdict),
            query=st.integers(0, 3),
            provenance=st.sampled_from(("", "rules 1")),
        ),
        max_size=40,
    )
