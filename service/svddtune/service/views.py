"""What a session lets its labelers see: all that their calls return passes through here.

``raw_features=False`` hides the values of the row that is asked about, and what is computed from
them; ``visible_features`` hides the values and names of all features but those that it names, and
what is computed from them. ``blind`` hides what others said. Both hold for streams, unary calls and
HTTP alike, and whoever the caller is, so that a program that labels in an owner's name shows people
no more.
"""

from collections.abc import Iterable, Mapping

from svddtune.config import SessionConfig, visible_columns
from svddtune.service.access.caller import Role, current
from svddtune.service.convert import session_to_proto
from svddtune.state.errors import StateError
from svddtune.state.session import Session
from svddtune.v1 import common_pb2, dataset_pb2, oracle_pb2, tuning_pb2

# One sentence for all questions: the reason may say which class has labels, or that a question is
# a repeat.
_WHY_BLIND = "Chosen by the session's query strategy."
# Fields of a session that follow from its labels.
_FROM_LABELS = (
    *("gamma", "scaling", "alignment", "live", "detectors"),
    *("awaiting_votes", "awaiting_adjudication"),
)


def seen_session(session: Session) -> tuning_pb2.Session:
    """A session as its labelers see it."""
    message = session_to_proto(session)
    # How far somebody is trusted is no business of others.
    message.config.ClearField("trusts")
    if session.config.blind:
        message.counts.CopyFrom(seen_counts(message.counts, session.config))
        # All of them follow from the labels; observations await votes where voters differ.
        for field in _FROM_LABELS:
            message.ClearField(field)
    return message


def session_for_caller(session: Session) -> tuning_pb2.Session:
    """A session as whoever makes the call may see it: a labeler sees no more than on its stream."""
    return seen_session(session) if labels_only() else session_to_proto(session)


def labels_only() -> bool:
    """Whether whoever makes the call sees no more than what sessions show their labelers."""
    return current().role is Role.LABELER


def seen_dataset(
    dataset: dataset_pb2.Dataset, configs: Iterable[SessionConfig]
) -> dataset_pb2.Dataset:
    """A dataset as labelers see it: its names and counts.

    ``configs`` are those of all sessions on it. The names of features that one of them hides are
    empty.
    """
    feature_names = list(dataset.feature_names)
    for config in configs:
        shown = shown_features(config, dataset)
        if shown is not None:
            feature_names = [
                name if column in shown else "" for column, name in enumerate(feature_names)
            ]
    return dataset_pb2.Dataset(
        name=dataset.name,
        display_name=dataset.display_name,
        observation_count=dataset.observation_count,
        feature_count=dataset.feature_count,
        feature_names=feature_names if any(feature_names) else (),
        create_time=dataset.create_time,
    )


def seen_counts(counts: common_pb2.LabelCounts, config: SessionConfig) -> common_pb2.LabelCounts:
    """Counts of labels; of a blind session only how many there are."""
    return common_pb2.LabelCounts(total=counts.total) if config.blind else counts


def seen_ack(ack: oracle_pb2.Ack, config: SessionConfig) -> oracle_pb2.Ack:
    """The Ack of an item, which it may change."""
    if config.blind and ack.HasField("counts"):
        ack.counts.CopyFrom(seen_counts(ack.counts, config))
    return ack


def shown_features(config: SessionConfig, dataset: dataset_pb2.Dataset) -> dict[int, str] | None:
    """The features that labelers see: column and name, in their order; None where they see all.

    Of the dataset, ``feature_count`` and ``feature_names`` count.
    """
    names = dataset.feature_names
    columns = visible_columns(config, names, dataset.feature_count)
    if columns is None:
        return None
    return {column: names[column] if names else "" for column in columns}


def seen_assign(
    assign: oracle_pb2.Assign, config: SessionConfig, shown: Mapping[int, str] | None
) -> oracle_pb2.Assign:
    """A query with what its labeler may see of it; the message is changed.

    ``shown`` are the ``shown_features`` of the session.
    """
    explanation = assign.explanation
    if config.blind:
        explanation.why, explanation.score = _WHY_BLIND, 0.0
        del explanation.nearby[:]
        if explanation.reference_inliers:
            # A comparison with what others called inliers.
            del explanation.unusual[:]
            explanation.reference_inliers = 0
        if assign.HasField("adjudication"):
            assign.adjudication.CopyFrom(oracle_pb2.Adjudication())
    if not config.raw_features:
        del assign.features[:], explanation.unusual[:], explanation.nearby[:]
        explanation.score, explanation.reference_inliers = 0.0, 0
    elif shown is not None:
        assign.visible.extend(
            oracle_pb2.VisibleFeature(name=name, column=column, value=assign.features[column])
            for column, name in shown.items()
        )
        unusual = [one for one in explanation.unusual if one.column in shown]
        # Score and neighbours follow from all features.
        del assign.features[:], explanation.unusual[:], explanation.nearby[:]
        explanation.unusual.extend(unusual)
        explanation.score = 0.0
    return assign


def seen_error(error: StateError, config: SessionConfig) -> StateError:
    """A refusal; in a blind session without the verdict of others, and whether they differ."""
    awaits = error.reason == "AWAITS_ADJUDICATION"
    if not config.blind or not (awaits or "verdict" in error.metadata):
        return error
    metadata = {key: value for key, value in error.metadata.items() if key != "verdict"}
    reason = "ALREADY_ANSWERED" if awaits else error.reason
    return type(error)(reason, "The observation already has a label.", **metadata)
