"""Several oracles in order: the next is asked where one abstains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from svddtune.client.errors import InvalidInput
from svddtune.client.oracles.answers import Answer, Command, Oracle, reply, verdict_of
from svddtune.client.oracles.known import KnownLabels
from svddtune.client.types import Judgement, Query, SkipMode, Verdict


@dataclass(frozen=True, slots=True)
class Tier:
    """An oracle with its name in reports and its cost per answer.

    Where the cost is None, the oracle's own attribute `cost` is reported, if it has one.
    """

    oracle: Any
    name: str = ""
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class TierReport:
    """What one tier did: asked = inlier + outlier + unsure + abstained + commands and other skips.

    Answers that were undone count as asked, not as answers; their cost counts.
    """

    name: str
    asked: int
    inlier: int
    outlier: int
    unsure: int
    abstained: int
    cost: float


class Tiers:
    """An oracle that asks several, in order, until one does not abstain.

    ::

        tiers = Tiers([known_labels, Tier(rule, cost=0.01), Tier(TerminalPrompt(), cost=2.5)])
        tune(X, tiers)
        print(tiers.report())

    A tier abstains by `SkipMode.OTHERS` or None. All else it says stands: a verdict, another skip,
    a command. Labels given as an array, a mapping or `KnownLabels` abstain where they know nothing.
    "Undo" goes back to the last answer of the tier that asks for it; answers that other tiers gave
    since then are kept.

    Parameters
    ----------
    tiers : sequence of Tier, oracle, array or mapping
        In the order in which they are asked; at least one.
    unsure_abstains : bool
        Whether "unsure" also passes to the next tier. If no later tier answers, "unsure" stands.
    otherwise : SkipMode
        Outcome of a query from which all tiers abstain. Default: it is dropped, since a run with
        one oracle has no other labeler; use OTHERS where the session has other labelers.

    Raises
    ------
    InvalidInput
        INVALID_FIELD: there is no tier.
    """

    def __init__(
        self,
        tiers: Sequence[Any],
        *,
        unsure_abstains: bool = False,
        otherwise: SkipMode = SkipMode.DROP,
    ) -> None:
        if not tiers:
            raise InvalidInput("Tiers need at least one oracle", metadata={"field": "tiers"})
        self._tiers = [_Counted(i, _tier(given)) for i, given in enumerate(tiers)]
        self._unsure_abstains = unsure_abstains
        self._otherwise = SkipMode(otherwise)
        # By observation: the tier that answered and its verdict; newest last.
        self._given: dict[str, tuple[_Counted, Verdict | Judgement]] = {}
        self._undoing: _Counted | None = None
        self._again: dict[str, tuple[_Counted, Verdict | Judgement]] = {}

    def __call__(self, query: Query) -> Answer:
        """Return the answer of the first tier that has one."""
        if self._undoing is not None:
            return self._undo(self._undoing, query)
        kept = self._again.pop(query.observation_id, None)
        if kept is not None:
            self._given[query.observation_id] = kept
            return kept[1]
        return self._ask(self._tiers, query)

    def report(self) -> tuple[TierReport, ...]:
        """Return what each tier did so far, in order."""
        return tuple(tier.report() for tier in self._tiers)

    @property
    def cost(self) -> float:
        """Cost of all answers so far."""
        return sum(tier.report().cost for tier in self._tiers)

    def _ask(self, tiers: Sequence[_Counted], query: Query) -> Answer:
        unsure: tuple[_Counted, Verdict] | None = None
        for tier in tiers:
            answer = self._of(tier, query)
            if answer is Verdict.UNSURE and self._unsure_abstains:
                unsure = unsure or (tier, answer)
            elif answer is not SkipMode.OTHERS:
                if isinstance(answer, Verdict | Judgement):
                    self._given[query.observation_id] = (tier, answer)
                return answer
        if unsure is None:
            return self._otherwise
        self._given[query.observation_id] = unsure
        return unsure[1]

    def _of(self, tier: _Counted, query: Query) -> Answer:
        """Return the answer of a tier; an undo starts only if the tier has an answer to undo."""
        while (answer := tier.ask(query)) is Command.UNDO:
            if any(by is tier for by, _ in self._given.values()):
                self._undoing = tier
                return answer
        return answer

    def _undo(self, tier: _Counted, query: Query) -> Answer:
        """Go back through the answers to the tier's own last one, and ask again.

        At each undo the caller withdraws the last answer and asks about its observation again.
        After that it asks about the later ones again.
        """
        given = self._given.pop(query.observation_id, None)
        if given is not None and given[0] is not tier:
            self._again[query.observation_id] = given
            return Command.UNDO
        self._undoing = None
        if given is None:
            return self._ask(self._tiers, query)
        tier.take_back(given[1])
        return self._ask(self._tiers[tier.index :], query)


class _Counted:
    """One tier with its counts."""

    def __init__(self, index: int, tier: Tier) -> None:
        self.index = index
        self._tier = tier
        self._name = tier.name or str(
            getattr(tier.oracle, "name", "") or f"{index + 1}: {_kind(tier.oracle)}"
        )
        self._oracle = _abstaining(tier.oracle)
        self._asked = self._abstained = self._answers = 0
        self._by_verdict = dict.fromkeys(Verdict, 0)

    def ask(self, query: Query) -> Answer:
        """Return what the oracle says; None means that it abstains."""
        said = self._oracle(query)
        answer = SkipMode.OTHERS if said is None else reply(said)
        self._asked += 1
        if (verdict := verdict_of(answer)) is not None:
            self._answers += 1
            self._by_verdict[verdict] += 1
        self._abstained += answer is SkipMode.OTHERS
        return answer

    def take_back(self, answer: Verdict | Judgement) -> None:
        """Note that an answer was undone."""
        verdict = answer.verdict if isinstance(answer, Judgement) else answer
        self._by_verdict[verdict] -= 1

    def report(self) -> TierReport:
        """Return the counts."""
        if self._tier.cost is None:
            cost = float(getattr(self._tier.oracle, "cost", 0.0))
        else:
            cost = self._answers * self._tier.cost
        return TierReport(
            name=self._name,
            asked=self._asked,
            inlier=self._by_verdict[Verdict.INLIER],
            outlier=self._by_verdict[Verdict.OUTLIER],
            unsure=self._by_verdict[Verdict.UNSURE],
            abstained=self._abstained,
            cost=cost,
        )


def _tier(given: Any) -> Tier:
    tier = given if isinstance(given, Tier) else Tier(given)
    if callable(tier.oracle):
        return tier
    return Tier(KnownLabels(tier.oracle), tier.name, tier.cost)


def _abstaining(oracle: Any) -> Oracle | Callable[[Query], object]:
    if isinstance(oracle, KnownLabels):
        return lambda query: oracle.look_up(query.observation_id, query.row)
    return oracle  # type: ignore[no-any-return]


def _kind(oracle: Any) -> str:
    return str(getattr(oracle, "__name__", "") or type(oracle).__name__)
