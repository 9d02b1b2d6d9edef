"""What people are shown of a session beside its state: history, cells, map, and the data's profile.

Workers compute all of it; here it is read and put together.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing

from svddtune.service import convert
from svddtune.service.views import shown_features
from svddtune.state.datasets import DatasetStore
from svddtune.state.pictures import Pictures
from svddtune.state.session import Session, Verdict
from svddtune.v1 import oracle_pb2, tuning_pb2

# How the coordinates of a map are found (``numerics.Plane``).
MAP_METHOD = "first two principal components of the standardised columns"


async def history(
    pictures: Pictures, session: Session, *, size: int, first: int
) -> tuning_pb2.ListHistoryResponse:
    """A page of a session's history, from the rev ``first`` of the labels on."""
    response = tuning_pb2.ListHistoryResponse()
    last_rev = first
    async with aclosing(pictures.history(session, first)) as found:
        async for rev, point in found:
            last = response.points[-1] if response.points else None
            if last is not None and (last.labels, last.counts) == (point.labels, point.counts):
                # A ranking that was made again with as many labels replaces the one before.
                last.CopyFrom(point)
            elif len(response.points) == size:
                response.next_page_token = convert.row_token(last_rev + 1)
                break
            else:
                response.points.append(point)
            last_rev = rev
    return response


async def session_map(
    pictures: Pictures, datasets: DatasetStore, session: Session, labels: Mapping[int, Verdict]
) -> tuning_pb2.GetMapResponse:
    """The map of a session's data; empty until the dataset has a portrait.

    ``labels`` are those in force, by row.
    """
    stored = await pictures.map(session.id, session.dataset_id)
    portrait, places, margins = stored.portrait, stored.places, stored.margins
    response = tuning_pb2.GetMapResponse()
    if not portrait.rows:
        return response
    response.labels = margins.labels
    known = dict(zip(margins.rows, margins.of_rows, strict=True)) if margins.of_portrait else {}
    # Those without a margin come last.
    beside = sorted(
        zip(places.rows, places.x, places.y, strict=True),
        key=lambda place: (place[0] not in known, place[0]),
    )
    rows: Sequence[int] = [*portrait.rows, *(row for row, _, _ in beside)]
    response.rows.extend(rows)
    response.x.extend([*portrait.x, *(x for _, x, _ in beside)])
    response.y.extend([*portrait.y, *(y for _, _, y in beside)])
    response.margins.extend(margins.of_portrait)
    response.margins.extend(known[row] for row, _, _ in beside if row in known)
    response.method, response.explained_share = MAP_METHOD, portrait.explained_share
    response.observation_ids.extend(await datasets.ids_of(session.dataset_id, rows))
    for verdict, found in (
        (Verdict.INLIER, response.inlier_rows),
        (Verdict.OUTLIER, response.outlier_rows),
        (Verdict.UNSURE, response.unsure_rows),
    ):
        found.extend(row for row in rows if labels.get(row) is verdict)
    return response


async def profile(
    pictures: Pictures, datasets: DatasetStore, session: Session
) -> oracle_pb2.GetProfileResponse:
    """What the features are like that the session's labelers see, in their order."""
    response = oracle_pb2.GetProfileResponse(observation_count=session.observation_count)
    if not session.config.raw_features:
        return response
    portrait = await pictures.portrait(session.dataset_id)
    features: Sequence[oracle_pb2.FeatureProfile] = portrait.features
    shown = shown_features(session.config, await datasets.get(session.dataset_id))
    if shown is not None and features:
        features = [features[column] for column in shown]
    response.features.extend(convert.fitting(features))
    return response
