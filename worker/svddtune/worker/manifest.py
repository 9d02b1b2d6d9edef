"""The manifest of a result: everything it was computed from."""

from collections import Counter
from importlib.metadata import version

from svddtune.config import to_proto
from svddtune.numerics import FloatArray, LabelArray, Preparation, SvddModel
from svddtune.state.codec import VERDICTS
from svddtune.state.session import Verdict
from svddtune.state.workspace import LabelLog, Snapshot
from svddtune.v1 import result_pb2
from svddtune.worker.data import Data
from svddtune.worker.scalings import scaling_kind

PACKAGES = ("svddtune", "numpy", "scipy", "scikit-learn")
PACKAGES_OF_AGGREGATION = {"dawid_skene": ("crowd-kit",)}


def manifest(
    data: Data,
    prep: Preparation,
    model: SvddModel,
    snapshot: Snapshot,
    log: LabelLog,
    used: LabelArray,
    certainty: FloatArray | None,
    *,
    with_atlas: bool,
) -> result_pb2.Manifest:
    """Return what is needed to compute a result again.

    ``used`` has all labels, audits included, and ``certainty`` how likely each is right (None: all
    are certain); ``with_atlas`` says that the choice rests on an atlas.
    """
    views = data.views
    config = snapshot.session.config
    packages = (*PACKAGES, *PACKAGES_OF_AGGREGATION.get(config.aggregation, ()))
    rows = [row for row in log.sources if used[row] != 0]
    in_force = [
        source
        for row, by_labeler in log.sources.items()
        for labeler, source in by_labeler.items()
        if labeler in snapshot.votes.get(row, {})
    ]
    return result_pb2.Manifest(
        versions={name: version(name) for name in packages},
        dataset_hash=data.description.content_hash,
        seed=config.seed,
        last_event_id=log.last_event_id,
        labeled_rows=rows,
        verdicts=[VERDICTS[Verdict(int(used[row]))] for row in rows],
        certainties=() if certainty is None else certainty[rows].tolist(),
        query_rows=log.query_rows,
        kernel_mean_sample=prep.sample_size or 0,
        fit_sample=0 if model.fit_rows is None else len(model.fit_rows),
        provenances=Counter(one.provenance for one in in_force if one.provenance),
        origins=Counter(f"sessions/{one.origin}" for one in in_force if one.origin),
        config=to_proto(config),
        scaling=scaling_kind(views.scaling),
        base_scaling=scaling_kind(views.base),
        atlas_scalings=map(scaling_kind, views.kinds) if with_atlas else (),
        belief_scaling=scaling_kind(views.belief) if with_atlas else None,
    )
