"""Audited rows are spread evenly."""

from hypothesis import given
from hypothesis import strategies as st

from svddtune.worker.audit import RULE, Candidate, interleave


def ask(queries: int, audits: int, *, tuning: int = 100) -> list[str]:
    """The rules of a whole session's queries, each time the first of a fresh ranking."""
    audited = list(range(5000, 5000 + audits))
    ranked = [Candidate(row, 1.0, "lama") for row in range(tuning)]
    asked: list[str] = []
    for position in range(queries):
        ranking = interleave(ranked, audited, asked=position, audits=audits, queries=queries)
        first = next(iter(ranking))
        asked.append(first.rule)
        if first.rule == RULE:
            audited.remove(first.row)
    return asked


@given(st.integers(1, 80), st.data())
def test_audited_rows_are_spread_evenly_over_queries(queries: int, data: st.DataObject) -> None:
    audits = data.draw(st.integers(0, queries))
    rules = ask(queries, audits)
    assert rules.count(RULE) == audits
    for end in range(1, queries + 1):
        assert abs(rules[:end].count(RULE) - end * audits / queries) <= 1


def test_ranking_continues_when_one_kind_of_row_is_used_up() -> None:
    ranked = [Candidate(1, 1.0, "lama")]
    rows = [one.row for one in interleave(ranked, [7, 8], asked=0, audits=2, queries=4)]
    assert sorted(rows) == [1, 7, 8]
