"""Reports on labelers and on their agreement, computed from a session's label log.

The functions are pure: they take events or votes and return figures.
"""

from svddtune.agreement.coefficients import (
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
)
from svddtune.agreement.pairs import PairAgreement, pair_agreements
from svddtune.agreement.reports import LabelerAccount, LabelerReport, labeler_reports
from svddtune.agreement.summary import Agreement, agreement
from svddtune.agreement.votes import VoteLog, VotesOfRow, votes_in_force

__all__ = [
    "Agreement",
    "LabelerAccount",
    "LabelerReport",
    "PairAgreement",
    "VoteLog",
    "VotesOfRow",
    "agreement",
    "fleiss_kappa",
    "krippendorff_alpha",
    "labeler_reports",
    "observed_agreement",
    "pair_agreements",
    "votes_in_force",
]
