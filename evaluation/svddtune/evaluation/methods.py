"""All compared methods by name, with what they are and where their runs come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svddtune.evaluation.baselines import RULES
from svddtune.numerics import DEFAULT_STRATEGY

Source = Literal["session", "columns", "rule", "dfn_sample", "cross_validation"]
Detector = Literal["svdd", "refined"]

WITH_ATLAS = ("atlas_session", "aside_session")
"""Kinds of work that choose by the atlas."""
BUDGET = 50
INITIAL = 2
"""Inliers, and outliers, that sessions of the paper start from."""


@dataclass(frozen=True, slots=True)
class Method:
    """A column of the table.

    Attributes
    ----------
    name : str
        On the command line, in CSV and JSON.
    title : str
        In tables and pictures.
    about : str
        One sentence.
    source : {"session", "columns", "rule", "dfn_sample", "cross_validation"}
        The kind of work that its runs come from.
    labels : int
        How many it uses; 0 for none, -1 for all.
    kind : str
        Of the work, where it is a session; see `units`.
    strategy : str
        Of sessions.
    initial : int
        Labels of each class before the first query, of sessions.
    detector : {"svdd", "refined"}
        Whose decisions are judged, of sessions: the tuned SVDD's or the refined detector's.
    as_printed : bool
        Of sessions that choose by the alignment: the printed tau, and the first of tied cells of C.
    """

    name: str
    title: str
    about: str
    source: Source
    labels: int = 0
    kind: str = "session"
    strategy: str = ""
    initial: int = INITIAL
    detector: Detector = "svdd"
    as_printed: bool = False

    @property
    def scaling(self) -> str:
        """Of the rows: the product's default where the atlas chooses; else as the sets have them.

        The paper's methods, LAMA among them, see the rows as they are.
        """
        return "auto" if self.kind in WITH_ATLAS else "none"

    @property
    def session(self) -> tuple[str, str, int, bool] | None:
        """What makes its sessions; None where it has none."""
        if self.source != "session":
            return None
        return (self.kind, self.strategy, self.initial, self.as_printed)

    @property
    def aside(self) -> bool:
        """Whether it is judged on the half of the rows that its sessions never ask about."""
        return self.kind == "aside_session"


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "lama", "LAMA",
            "The paper's: queries by the least change of the local alignment, gamma from it, "
            "C on the labels.",
            "session", BUDGET, strategy="lama",
        ),
        Method(
            "lama_printed", "LAMA, printed",
            "The same with tau as printed and the first of tied cells of C.",
            "session", BUDGET, strategy="lama", as_printed=True,
        ),
        Method(
            "lama_sample", "LAMA-Sample",
            "Random labels, without initial ones; gamma and C as LAMA.",
            "session", BUDGET, strategy="random", initial=0,
        ),
        Method(
            "default", "svddtune",
            f"The shipped default: queries by the strategy `{DEFAULT_STRATEGY}`; representation, "
            "gamma and C jointly from the atlas.",
            "session", BUDGET, kind="atlas_session", strategy=DEFAULT_STRATEGY,
        ),
        Method(
            "default_25", "svddtune, 25",
            "The same sessions after 25 labels.",
            "session", 25, kind="atlas_session", strategy=DEFAULT_STRATEGY,
        ),
        Method(
            "default_cold", "svddtune, cold",
            "The same from no label at all.",
            "session", BUDGET, kind="atlas_session", strategy=DEFAULT_STRATEGY, initial=0,
        ),
        Method(
            "default_aside", "svddtune, half aside",
            "The same on the half of the rows that is set aside, stratified by class; sessions ask "
            "about the other half only.",
            "session", BUDGET, kind="aside_session", strategy=DEFAULT_STRATEGY,
        ),
        Method(
            "default_aside_25", "svddtune, half aside, 25",
            "The same sessions after 25 labels.",
            "session", 25, kind="aside_session", strategy=DEFAULT_STRATEGY,
        ),
        Method(
            "refined", "Refined detector",
            "The refined detector on the labels of the same sessions, on the same rows.",
            "session", BUDGET, kind="aside_session", strategy=DEFAULT_STRATEGY,
            detector="refined",
        ),
        Method(
            "refined_25", "Refined detector, 25",
            "The same after 25 labels.",
            "session", 25, kind="aside_session", strategy=DEFAULT_STRATEGY, detector="refined",
        ),
        Method(
            "knowledge_gradient", "Knowledge gradient",
            "All queries by the knowledge gradient, which serves the tuned SVDD alone.",
            "session", BUDGET, kind="atlas_session", strategy="knowledge_gradient",
        ),
        Method(
            "knowledge_gradient_25", "Knowledge gradient, 25",
            "The same sessions after 25 labels.",
            "session", 25, kind="atlas_session", strategy="knowledge_gradient",
        ),
        Method(
            "disagreement", "Disagreement",
            "Queries where the cells of the atlas disagree; the best cell on the labels.",
            "session", BUDGET, kind="atlas_session", strategy="disagreement",
        ),
        Method(
            "disagreement_25", "Disagreement, 25",
            "The same sessions after 25 labels.",
            "session", 25, kind="atlas_session", strategy="disagreement",
        ),
        Method(
            "random", "Random, joint choice",
            "Random queries; representation, gamma and C jointly from the atlas, as the default.",
            "session", BUDGET, kind="atlas_session", strategy="random",
        ),
        Method(
            "dfn_fix", "DFN-Fix",
            "Xiao et al. 2014: near against far neighbours; C = 0.05.",
            "columns",
        ),
        Method(
            "dfn_sample", "DFN-Sample",
            "The same gamma; C on random labels.",
            "dfn_sample", BUDGET,
        ),
        Method(
            "qms", "QMS",
            "Ghafoori et al. 2018: change point of neighbourhood distances; undefined where rows "
            "repeat.",
            "columns",
        ),
        Method(
            "ads", "ADS",
            "Wang et al. 2018: self-adaptive data shifting on the authors' grid.",
            "columns",
        ),
        Method(
            "ads_ext", "ADS-ext",
            "The same on a finer grid, 20 x 20.",
            "columns",
        ),
        Method(
            "upper_bound", "Upper bound",
            "The best cell of that grid by the truth of all rows.",
            "columns", -1,
        ),
        Method(
            "cv", "CV",
            "Tax and Duin 2004, Tran et al. 2004: cross-validation on random labels.",
            "cross_validation", BUDGET,
        ),
    )
} | {
    name: Method(name, rule.title, rule.about, "rule") for name, rule in RULES.items()
}  # fmt: skip
"""Name -> method, in the order of the table."""
