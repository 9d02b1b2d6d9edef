"""What the service counts of its calls and labelers."""

from google.protobuf.descriptor import ServiceDescriptor


class Meters:
    """Counts nothing: the service runs without metrics."""

    # Where they are shown.
    address = ""

    def measured(self, servicer: object, service: ServiceDescriptor) -> object:
        """A servicer whose calls are counted."""
        return servicer

    def answered(self, verdict: str, *, applied: bool, count: int = 1) -> None:
        """Answers were stored: ``verdict`` is inlier, outlier or unsure; votes if ``applied``."""

    def waited(self, seconds: float) -> None:
        """A labeler got a query so long after it asked for one."""

    def close(self) -> None:
        """Stop showing the metrics."""
