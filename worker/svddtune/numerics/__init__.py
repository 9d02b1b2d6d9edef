"""The method: active learning of SVDD hyperparameters, arrays in, arrays out.

Source: Trittenbach, Böhm, Assent, *Active Learning of SVDD Hyperparameter Values* (LAMA, Local
Active Min-Max Alignment). Departures from it stand as "Deviation:" under Notes where they occur.

========== ============ =====================================================================
Symbol     Shape        Meaning and home
========== ============ =====================================================================
X          (N, M)       observations, float64, finite
y, labels  (N,)         oracle's labels, int8: +1 inlier, -1 outlier, 0 unlabelled
k          scalar       locality; NN_k counts the row itself
nn         (N, K)       NN_K of every row, `neighbors`
y'         (N,)         labels spread over neighbourhoods, `pools`
i, j       (P,)         ordered pairs of the mask, `mask`
D2         (P,)         squared distances, `kernel`
r_i, m     (N, Q), (Q,) row and grand means of K at Chebyshev nodes, `preparation`
Kc, Yc     (P,)         kernel and labels centred over all N rows, `alignment`
a(gamma)   scalar       local alignment, in [-1, 1], `alignment`
gamma_opt  scalar       its argmax over gamma_bounds, inverse squared distance, `alignment`
tau        (n,)         least change of a by a row's label, `tau`
U, S       row sets     rows that may be asked about; candidates among them, `query`
alpha      (S,)         SVDD's weights, in [0, C], sum 1, `svdd`
C, nu      scalars      C in [1/N, 1], nu = 1 / (N C), `svdd`
R2         scalar       squared radius in feature space, `svdd`
C_LB, C_UB scalars      feasible range of C, `grid`
========== ============ =====================================================================

Order of use: `prepare` once a dataset; `suggest` after every label; `finish` at the end, or
`fit_cells` and `score_cells` for one gamma. `run` is the whole session in one process.

Beyond the paper: `Views` are the rows in several representations, `svddtune.representation`.
`fit_atlas_part` for each part of the `lattice_plan`, joined by `Atlas.from_parts`, and
`belief_basis`, all once a dataset. With them `choose_cell` names the best cell (representation,
gamma, C) after every label, `suggest` has the strategies "disagreement" and "knowledge_gradient",
and `finish_with_atlas` ends the session.

========== ============ =====================================================================
B          (cells, N)   1 where a cell calls a row an outlier, `atlas`
q          (P,)         believed probability of "outlier" of the panel's rows, `belief`
V          (n, P)       posterior covariance of the log-odds is k - V^T V, `belief`
w          (T,)         weights of the leading cells, `committee`
D, gain    (Q, T), (P,) kappa's slopes, and what a label tells about them, `gain`
========== ============ =====================================================================

`HEURISTICS` are the rules that propose gamma without labels, `label_free`.
"""

from svddtune.numerics.alignment import (
    AlignmentCurve,
    LocalAlignment,
    alignment,
    alignment_curve,
    best_gamma,
    coarse_grid,
    local_alignment,
)
from svddtune.numerics.atlas import Atlas
from svddtune.numerics.audit import AuditScore, audit_score, draw_audit
from svddtune.numerics.bandwidth import scott_gamma, silverman_gamma, sklearn_scale_gamma
from svddtune.numerics.belief import Belief, BeliefBasis, belief_basis, believe
from svddtune.numerics.cell_model import cell_model
from svddtune.numerics.certainty import estimate_noise, label_certainty
from svddtune.numerics.checkpoint import checked_by, checkpoint
from svddtune.numerics.committee import Committee, disagreement, form_committee
from svddtune.numerics.consensus import DawidSkeneUnavailable, dawid_skene
from svddtune.numerics.context import (
    Spread,
    UnevenColumns,
    nearest_labelled,
    spread_of,
    uneven_columns,
)
from svddtune.numerics.doubts import data_notes, label_notes
from svddtune.numerics.evidence import (
    Evidence,
    LiveChoice,
    choose_cell,
    evidence_of,
    final_cell,
    pick,
    predicted_labels,
    weigh,
)
from svddtune.numerics.gain import (
    Gains,
    knowledge_committee,
    knowledge_gains,
    rank_by_gain,
    share_of_evidence,
)
from svddtune.numerics.grid import (
    TIE_RULES,
    Cell,
    CellFits,
    c_bounds,
    c_grid,
    choose,
    choose_c,
    fit_cells,
    tells_apart,
)
from svddtune.numerics.label_free import HEURISTICS, Heuristic
from svddtune.numerics.lattice import (
    AUTO_GAMMAS,
    LATTICE_CELLS,
    LATTICE_GAMMAS,
    LatticePart,
    fit_atlas,
    fit_atlas_part,
    judged,
    lattice_gammas,
    lattice_part,
    lattice_plan,
    lattice_size,
)
from svddtune.numerics.mapped import SAMPLED_ABOVE, MappedRows, Rows, complete
from svddtune.numerics.neighbors import mutual, nearest, reverse
from svddtune.numerics.outlook import GAIN_STRATEGIES, LEAST_LABELS, Outlook, outlook, prospect_of
from svddtune.numerics.own import (
    FitRepresentation,
    QueryStrategy,
    Ranked,
    RepresentationFault,
    Situation,
    StrategyFault,
    fit_own,
    rank_by,
)
from svddtune.numerics.panel import panel_rows
from svddtune.numerics.plane import Plane, plane_of
from svddtune.numerics.pools import Pools, relabel, spread
from svddtune.numerics.preparation import (
    PART_S,
    Preparation,
    PreparationCourse,
    default_gamma_bounds,
    prepare,
)
from svddtune.numerics.profiling import profile_of
from svddtune.numerics.prospect import AHEAD, expected_gain, possible_gain
from svddtune.numerics.query import (
    ATLAS_STRATEGIES,
    DEFAULT_STRATEGY,
    STRATEGIES,
    Strategy,
    Suggestion,
    suggest,
)
from svddtune.numerics.representation import REPRESENTATIONS, fit_representation
from svddtune.numerics.scores import (
    METRICS,
    Metric,
    bootstrap_interval,
    class_counts,
    difference_interval,
    score,
    score_counts,
)
from svddtune.numerics.share import (
    AUDITED_ROWS,
    BelievedShare,
    ShareEstimate,
    believed_share,
    share_by_audit,
    share_by_belief,
    stretched_share,
)
from svddtune.numerics.stop import Advice, Moment, advise
from svddtune.numerics.survey import Survey
from svddtune.numerics.svdd import (
    SvddModel,
    c_from_nu,
    c_upper_bound,
    fit,
    hard_margin,
    nu_from_c,
    sklearn_parameters,
)
from svddtune.numerics.tau import TAU_RULES, tau
from svddtune.numerics.tuning import (
    FinalChoice,
    Oracle,
    TuningResult,
    draw_initial,
    finish,
    finish_with_atlas,
    query_rng,
    run,
    score_cells,
)
from svddtune.numerics.types import BoolArray, FloatArray, IndexArray, LabelArray, as_labels
from svddtune.numerics.views import AUTO, AUTO_SCALINGS, BASE_SCALING, BELIEF_SCALING, Views
from svddtune.representation import Representation

__all__ = [
    "AHEAD",
    "ATLAS_STRATEGIES",
    "AUDITED_ROWS",
    "AUTO",
    "AUTO_GAMMAS",
    "AUTO_SCALINGS",
    "BASE_SCALING",
    "BELIEF_SCALING",
    "DEFAULT_STRATEGY",
    "GAIN_STRATEGIES",
    "HEURISTICS",
    "LATTICE_CELLS",
    "LATTICE_GAMMAS",
    "LEAST_LABELS",
    "METRICS",
    "PART_S",
    "REPRESENTATIONS",
    "SAMPLED_ABOVE",
    "STRATEGIES",
    "TAU_RULES",
    "TIE_RULES",
    "Advice",
    "AlignmentCurve",
    "Atlas",
    "AuditScore",
    "Belief",
    "BeliefBasis",
    "BelievedShare",
    "BoolArray",
    "Cell",
    "CellFits",
    "Committee",
    "DawidSkeneUnavailable",
    "Evidence",
    "FinalChoice",
    "FitRepresentation",
    "FloatArray",
    "Gains",
    "Heuristic",
    "IndexArray",
    "LabelArray",
    "LatticePart",
    "LiveChoice",
    "LocalAlignment",
    "MappedRows",
    "Metric",
    "Moment",
    "Oracle",
    "Outlook",
    "Plane",
    "Pools",
    "Preparation",
    "PreparationCourse",
    "QueryStrategy",
    "Ranked",
    "Representation",
    "RepresentationFault",
    "Rows",
    "ShareEstimate",
    "Situation",
    "Spread",
    "Strategy",
    "StrategyFault",
    "Suggestion",
    "Survey",
    "SvddModel",
    "TuningResult",
    "UnevenColumns",
    "Views",
    "advise",
    "alignment",
    "alignment_curve",
    "as_labels",
    "audit_score",
    "belief_basis",
    "believe",
    "believed_share",
    "best_gamma",
    "bootstrap_interval",
    "c_bounds",
    "c_from_nu",
    "c_grid",
    "c_upper_bound",
    "cell_model",
    "checked_by",
    "checkpoint",
    "choose",
    "choose_c",
    "choose_cell",
    "class_counts",
    "coarse_grid",
    "complete",
    "data_notes",
    "dawid_skene",
    "default_gamma_bounds",
    "difference_interval",
    "disagreement",
    "draw_audit",
    "draw_initial",
    "estimate_noise",
    "evidence_of",
    "expected_gain",
    "final_cell",
    "finish",
    "finish_with_atlas",
    "fit",
    "fit_atlas",
    "fit_atlas_part",
    "fit_cells",
    "fit_own",
    "fit_representation",
    "form_committee",
    "hard_margin",
    "judged",
    "knowledge_committee",
    "knowledge_gains",
    "label_certainty",
    "label_notes",
    "lattice_gammas",
    "lattice_part",
    "lattice_plan",
    "lattice_size",
    "local_alignment",
    "mutual",
    "nearest",
    "nearest_labelled",
    "nu_from_c",
    "outlook",
    "panel_rows",
    "pick",
    "plane_of",
    "possible_gain",
    "predicted_labels",
    "prepare",
    "profile_of",
    "prospect_of",
    "query_rng",
    "rank_by",
    "rank_by_gain",
    "relabel",
    "reverse",
    "run",
    "score",
    "score_cells",
    "score_counts",
    "scott_gamma",
    "share_by_audit",
    "share_by_belief",
    "share_of_evidence",
    "silverman_gamma",
    "sklearn_parameters",
    "sklearn_scale_gamma",
    "spread",
    "spread_of",
    "stretched_share",
    "suggest",
    "tau",
    "tells_apart",
    "uneven_columns",
    "weigh",
]
