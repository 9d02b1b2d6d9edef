"""The jobs that a session or its dataset may need, as they are kept until they are due."""

from dataclasses import dataclass

from svddtune.config import SessionConfig
from svddtune.jobs.v1 import jobs_pb2
from svddtune.state import keys
from svddtune.state.session import SAMPLED_ABOVE, DatasetId, SessionId


@dataclass(frozen=True, slots=True)
class SessionJobs:
    """Payloads of jobs, and the names of what two of them make of the dataset."""

    # Names of the preparation and of the range of gamma: see ``keys``.
    preparation: str
    range: str
    prepare: bytes
    suggest: bytes
    refine: bytes
    plan: bytes
    estimate: bytes
    # One for each part of the atlas.
    atlas: tuple[bytes, ...]

    def by_kind(self) -> dict[str, bytes]:
        """Return the jobs that a session keeps, by the names that the scripts give them."""
        return {
            "prepare": self.prepare,
            "suggest": self.suggest,
            "refine": self.refine,
            "plan": self.plan,
            "estimate": self.estimate,
        }


def preparation_k(k: int, observation_count: int) -> int:
    """Neighbours to prepare for locality k: rounded up, so that nearby k share a preparation."""
    return min(-(-k // 8) * 8, observation_count)


def of_panel(config: SessionConfig, observation_count: int) -> bool:
    """Whether a session needs the preparation of the panel's rows alone."""
    return config.needs_atlas and observation_count > SAMPLED_ABOVE


def session_jobs(
    session_id: SessionId,
    dataset_id: DatasetId,
    config: SessionConfig,
    *,
    observation_count: int,
    atlas_parts: int,
) -> SessionJobs:
    """The jobs of a session, on a dataset whose atlas has so many parts."""
    k, bounds = preparation_k(config.k, observation_count), config.gamma_bounds
    panel = of_panel(config, observation_count)
    low, high = bounds or (0.0, 0.0)
    job = jobs_pb2.Job
    return SessionJobs(
        preparation=keys.preparation_name(k, bounds, panel=panel),
        range=keys.range_name(bounds),
        prepare=job(
            prepare=jobs_pb2.PrepareJob(
                dataset_id=dataset_id, k=k, gamma_min=low, gamma_max=high, panel=panel
            )
        ).SerializeToString(),
        suggest=job(suggest=jobs_pb2.SuggestJob(session_id=session_id)).SerializeToString(),
        refine=job(refine=jobs_pb2.RefineJob(session_id=session_id)).SerializeToString(),
        plan=job(plan=jobs_pb2.PlanJob(session_id=session_id)).SerializeToString(),
        estimate=job(estimate=jobs_pb2.EstimateJob(session_id=session_id)).SerializeToString(),
        atlas=tuple(
            job(
                atlas=jobs_pb2.AtlasJob(
                    dataset_id=dataset_id, index=i, gamma_min=low, gamma_max=high
                )
            ).SerializeToString()
            for i in range(atlas_parts)
        ),
    )
