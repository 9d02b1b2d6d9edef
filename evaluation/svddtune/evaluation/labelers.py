"""Sessions whose labelers err, vote and work in parallel, as a service sees them.

A session hands out queries from its last ranking until a new label comes. After an answer the next
ranking is made, given the queries that are still open. The further votes on an observation come
right after the first. The label is the majority of the votes so far, also while further votes are
awaited. The choice takes it as right with the probability that the votes and their rate of mistakes
give it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

import numpy as np

from svddtune.evaluation.store import Record
from svddtune.evaluation.task import LOCALITY, Task, point
from svddtune.evaluation.units import Parameter
from svddtune.numerics import (
    BoolArray,
    FloatArray,
    IndexArray,
    LabelArray,
    Strategy,
    choose_cell,
    draw_initial,
    estimate_noise,
    finish,
    label_certainty,
    predicted_labels,
    query_rng,
    suggest,
)
from svddtune.numerics.evidence import Criterion

Order = Literal["oldest", "random"]
Rule = Literal["always", "adaptive"]

RESERVE = 16
"""Rows of a ranking, as the service's workers make it."""
CANDIDATES = 100
"""Rows that "lama" looks at for one query: the service's default."""
COUNTS = (25, 50)
"""Labelled observations, and votes, after which a session is judged."""

_MOST_VOTES = 20
# Streams of random numbers, apart from each other and from those of the queries.
_MISTAKES, _TURNS = 101, 102


@dataclass(frozen=True, slots=True)
class Labelers:
    """How a session is labelled.

    Attributes
    ----------
    wrong : float
        Probability that a vote is the other class than the truth, in [0, 1).
    votes : int
        Sought on each observation: `SessionConfig.overlap`.
    limit : int
        Most votes on one: a tie asks one more up to it, and drops the observation at it.
    rule : {"always", "adaptive"}
        With "adaptive" the first vote stands alone where it is what the live choice predicted
        before the observation was asked about, or where nothing was predicted.
    open : int
        Queries out at a time.
    order : {"oldest", "random"}
        Which of them is answered next.
    told : float
        `SessionConfig.label_noise`, the rate of mistakes that the session is told, in [0, 0.45];
        a negative one tells nothing, so that it is estimated once observations have several votes.
    """

    wrong: float = 0.0
    votes: int = 1
    limit: int = 1
    rule: Rule = "always"
    open: int = 1
    order: Order = "oldest"
    told: float = -1.0

    @property
    def parameters(self) -> tuple[tuple[str, Parameter], ...]:
        """All attributes, as a unit of work has them."""
        return tuple(asdict(self).items())

    @classmethod
    def given(cls, parameters: Mapping[str, Any]) -> Labelers:
        """Inverse of `parameters`; others are ignored."""
        return cls(**{name: parameters[name] for name in cls.__dataclass_fields__})

    def awaits(self, given: int, balance: int, predicted: int) -> bool:
        """Whether an observation needs a further vote.

        Parameters
        ----------
        given : int
            Votes so far, at least 1.
        balance : int
            Their sum.
        predicted : int
            +1 or -1; 0 where nothing was.
        """
        stands = self.rule == "adaptive" and given == 1 and predicted in (0, balance)
        return given < (1 if stands else self.votes) or (balance == 0 and given < self.limit)

    def mistakes(self, N: int, seed: int) -> BoolArray:
        """Which votes are wrong, shape (N, limit): the first votes are so for all settings."""
        drawn = np.random.default_rng([_MISTAKES, seed]).random((N, _MOST_VOTES))
        return np.asarray(drawn[:, : self.limit] < self.wrong)


@dataclass(slots=True)
class State:
    """A session after a vote.

    Attributes
    ----------
    labels : LabelArray, shape (N,)
        In force; the next vote changes them.
    queries : list of int
        Rows asked about, in the order in which they were handed out.
    votes : int
        Given so far, each initial label one.
    given : dict of int to list of int
        Votes on each row that was asked about: +1 or -1.
    told : float
        As in `Labelers`.
    awaiting : bool
        The last observation needs a further vote.
    """

    labels: LabelArray
    queries: list[int]
    votes: int
    given: dict[int, list[int]]
    told: float
    awaiting: bool = False

    @property
    def labelled(self) -> int:
        """Observations with a label."""
        return int(np.count_nonzero(self.labels))

    @property
    def certainty(self) -> FloatArray | None:
        """Probability that each label is right, as the service has it; None where all are."""
        noise = self.told
        if noise < 0.0:
            several = [said for said in self.given.values() if len(said) > 1]
            noise = estimate_noise(several) if several else 0.0
        if noise == 0.0:
            return None
        found = np.ones(len(self.labels))
        for row, said in self.given.items():
            if self.labels[row]:
                found[row] = label_certainty(int(self.labels[row]), said, [noise] * len(said))
        return found


@dataclass(frozen=True, slots=True)
class _Open:
    """An open query, and what the live choice predicted for its row."""

    row: int
    predicted: int


def run(
    task: Task, labelers: Labelers, *, strategy: Strategy, budget: int, seed: int,
    initial: IndexArray,
) -> Iterator[State]:  # fmt: skip
    """Run a session until it has its labels, or no row is left.

    Parameters
    ----------
    task : Task
        Data and preparation that the sessions on one set share.
    labelers : Labelers
        How many answer, how often they err, and in which order.
    strategy : str
        Strategy of `suggest`.
    budget : int
        Labelled observations in all.
    seed : int
        Of the queries, the mistakes and the order of answers.
    initial : IndexArray
        Rows whose true labels are known before the first query.

    Yields
    ------
    State
        The same object before the first vote and after every one.
    """
    y, mistakes = task.y, labelers.mistakes(len(task.y), seed)
    turns = np.random.default_rng([_TURNS, seed])
    labels = np.zeros_like(y)
    labels[initial] = y[initial]
    state = State(labels, [], len(initial), {}, labelers.told)
    yield state
    ranking: deque[_Open] = deque()
    waiting: list[_Open] = []
    dropped: list[int] = []
    while True:
        while len(waiting) < labelers.open and state.labelled + len(waiting) < budget:
            if not ranking:
                out = [query.row for query in waiting]
                ranking = _rank(task, state, strategy, seed=seed, dropped=dropped, out=out)
            if not ranking:
                break
            waiting.append(ranking.popleft())
            state.queries.append(waiting[-1].row)
        if not waiting:
            return
        answered = 0 if labelers.order == "oldest" else int(turns.integers(len(waiting)))
        query = waiting.pop(answered)
        said = state.given.setdefault(query.row, [])
        state.awaiting = True
        while state.awaiting:
            said.append(int(y[query.row]) * (-1 if mistakes[query.row, len(said)] else 1))
            balance = sum(said)
            labels[query.row] = np.sign(balance)
            state.votes += 1
            state.awaiting = labelers.awaits(len(said), balance, query.predicted)
            if balance == 0 and not state.awaiting:
                dropped.append(query.row)
            yield state
        ranking.clear()


def _rank(
    task: Task, state: State, strategy: Strategy, *, seed: int, dropped: list[int], out: list[int]
) -> deque[_Open]:
    suggestion = suggest(
        task.prep, task.X, state.labels, k=LOCALITY, strategy=strategy, sample=CANDIDATES,
        rng=query_rng(seed, state.votes, len(state.queries)),
        exclude=np.array(dropped, dtype=np.int64), open_rows=np.array(out, dtype=np.int64),
        reserve=RESERVE, atlas=task.atlas, basis=task.basis, certainty=state.certainty,
    )  # fmt: skip
    predicted = predicted_labels(suggestion.choice, task.atlas, suggestion.rows)
    return deque(map(_Open, suggestion.rows.tolist(), predicted.tolist()))


def labelled(task: Task) -> Record:
    """A session with such labelers: what it chooses after `COUNTS` observations and votes."""
    strategy, seed = cast(Strategy, task.given["strategy"]), task.seed
    initial = draw_initial(task.y, *task.initial(int(task.given["initial"])), seed)
    states = run(
        task, Labelers.given(task.given), strategy=strategy, budget=task.budget, seed=seed,
        initial=initial,
    )  # fmt: skip
    observations: dict[str, Record] = {}
    votes: dict[str, Record] = {}
    both_after = None
    for state in states:
        if both_after is None and {-1, 1} <= set(state.labels.tolist()):
            both_after = state.votes
        if not state.awaiting and state.labelled in COUNTS:
            observations.setdefault(str(state.labelled), _chosen(task, state, strategy))
        if state.votes in COUNTS:
            votes[str(state.votes)] = _chosen(task, state, strategy)
    last = _chosen(task, state, strategy)
    for count in COUNTS:
        observations.setdefault(str(count), last)
        votes.setdefault(str(count), last)
    return {
        "observations": observations,
        "votes": votes,
        "queries": state.queries,
        "initial": len(initial),
        "both_after": both_after,
    }


def _chosen(task: Task, state: State, strategy: Strategy) -> Record:
    """The session's choice at this moment, and how its labels came about."""
    X, y, labels = task.X, task.y, state.labels
    if task.given["choice"] == "atlas":
        criterion: Criterion = "labels" if strategy == "disagreement" else "evidence"
        choice = choose_cell(
            task.atlas, task.basis, labels, criterion=criterion, certainty=state.certainty
        )
        predictions = predicted_labels(choice, task.atlas, np.arange(len(y)))
        chosen = point(y, labels, choice.gamma, choice.C, predictions)
    else:
        final = finish(task.prep, X, labels, k=LOCALITY, seed=task.seed)
        chosen = point(y, labels, final.gamma, final.model.C, final.predictions)
    return chosen | {"votes": state.votes, "wrong": int(np.sum(labels * y < 0))}
