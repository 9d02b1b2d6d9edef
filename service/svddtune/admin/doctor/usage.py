"""Check that what projects have is counted right: their limits go by it."""

from svddtune.admin.doctor.findings import Finding, ok, warning
from svddtune.client.phrases import many
from svddtune.state import recount
from svddtune.state.connect import Redis
from svddtune.state.recount import ProjectUsage

_SHOWN = 5


def check_usage(client: Redis, partitions: int) -> Finding:
    """Check the counts of all projects. Raises StoreUnavailable."""
    found = recount.compare(client, partitions)
    wrong = [one for one in found if not one.right]
    if not wrong:
        return ok("usage", f"{many(len(found), 'project')}, counted right")
    more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return warning(
        "usage",
        "; ".join(map(_told, wrong[:_SHOWN])) + more,
        "Limits of projects go by what is counted. Count anew: svddtune usage --recount.",
    )


def _told(one: ProjectUsage) -> str:
    differing = [
        f"{one.counted[kind]} {kind} counted and {one.found[kind]} there"
        for kind in recount.KINDS
        if one.counted[kind] != one.found[kind]
    ]
    return f"project {one.project}: {', '.join(differing) or 'wrong in some partition'}"
