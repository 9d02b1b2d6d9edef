"""Requests that change a session."""

from svddtune.v1 import tuning_pb2


def update(
    name: str, *, budget: int | None = None, priority: int | None = None
) -> tuning_pb2.UpdateSessionRequest:
    """The request that changes the settings given, and no others."""
    request = tuning_pb2.UpdateSessionRequest(session=tuning_pb2.Session(name=name))
    if budget is not None:
        request.session.config.budget = budget
        request.update_mask.paths.append("config.budget")
    if priority is not None:
        request.session.config.priority = priority
        request.update_mask.paths.append("config.priority")
    return request
