"""Who labelled what, and how well labelers agree: folds over a session's label log.

Pure: events and votes in, figures out.
"""

from svddtune.agreement.coefficients import (
    fleiss_kappa,
    krippendorff_alpha,
    observed_agreement,
)
from svddtune.agreement.reports import LabelerAccount, LabelerReport, labeler_reports
from svddtune.agreement.summary import Agreement, agreement
from svddtune.agreement.votes import VotesOfRow, votes_in_force

__all__ = [
    "Agreement",
    "LabelerAccount",
    "LabelerReport",
    "VotesOfRow",
    "agreement",
    "fleiss_kappa",
    "krippendorff_alpha",
    "labeler_reports",
    "observed_agreement",
    "votes_in_force",
]
