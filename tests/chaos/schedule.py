"""Schedules: which faults strike a session, and after how many acknowledged labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

# Kind of fault -> its bounds in seconds: how long it lasts, or how far the clock jumps.
SECONDS = {
    # Processes
    "kill_service": (0.0, 0.0),
    "kill_worker": (0.0, 0.0),
    "kill_workers": (0.0, 0.0),
    "kill_store": (0.0, 0.3),
    "kill_labeler": (0.0, 0.2),
    "restart_service": (0.0, 0.0),
    "restart_worker": (0.0, 0.0),
    "stop_service": (0.3, 1.5),
    # Longer than the silence after which a job goes to another worker.
    "stop_worker": (1.1, 1.6),
    "stop_workers": (1.1, 1.6),
    # Longer than a lease.
    "stop_labeler": (1.1, 1.5),
    "freeze_store": (0.2, 2.5),
    # Connections
    "cut_labelers": (0.0, 0.0),
    "cut_store": (0.0, 0.0),
    "delay_labelers": (0.02, 0.1),
    "delay_store": (0.005, 0.05),
    "half_close_labelers": (0.0, 0.0),
    "half_close_store": (0.0, 0.0),
    "lose_replies_to_labelers": (0.0, 0.0),
    "lose_replies_of_store": (0.2, 0.6),
    "unreachable_store": (0.1, 0.8),
    "unreachable_service": (0.1, 0.8),
    # Store
    "full_memory": (0.1, 0.8),
    "full_disk": (0.1, 0.5),
    "failover": (0.0, 0.0),
    "clock_forward": (1.0, 7200.0),
    "clock_back": (0.2, 7200.0),
    "lost_data": (0.0, 0.0),
}
# These strike a store with a replica that acknowledgements wait for.
OF_REPLICAS = {"lost_master": (0.0, 0.0), "stop_replica": (0.2, 1.5)}
# These strike services and workers of two versions, and replace them by ones of the other.
OF_VERSIONS = {"swap_service": (0.0, 0.0), "swap_worker": (0.0, 0.0)}
KINDS = tuple(SECONDS)
# After this one there is no session any more.
LOST_DATA = "lost_data"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that strikes once this many labels are acknowledged.

    ``seconds``: how long it lasts, or how far the clock jumps.
    """

    kind: str
    after: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.kind}@{self.after}({self.seconds:.2f} s)"


@dataclass(frozen=True, slots=True)
class Schedule:
    """One session with its faults, all of it made from the seed."""

    seed: int
    strategy: str
    rows: int
    budget: int
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        struck = ", ".join(map(str, self.faults)) or "no fault"
        return f"seed {self.seed}: {self.strategy}, {self.budget} labels; {struck}"


def schedule(
    seed: int,
    kinds: Sequence[str] = (),
    *,
    strategy: str = "",
    replicated: bool = False,
    versions: bool = False,
) -> Schedule:
    """Make the schedule of a seed; with ``kinds`` these strike, in this order.

    ``replicated``: the store has a replica, which two thirds of the faults are about.
    ``versions``: there are processes of two versions, which as many are about.
    """
    random = Random(seed)
    # The default strategy builds an atlas, which takes ten times as long.
    strategy = (
        strategy or random.choices(("lama", "random", "knowledge_gradient"), weights=(12, 4, 1))[0]
    )
    budget = random.randint(6, 9)
    if not kinds:
        kinds = [random.choice(KINDS) for _ in range(random.randint(1, 3))]
        if replicated:
            kinds = [random.choice((one, *OF_REPLICAS)) for one in kinds]
        if versions:
            # (With all data, the hold on the layout would be lost.)
            kinds = [random.choice((one, *OF_VERSIONS)) for one in kinds if one != LOST_DATA]
    # Before the first label the data are prepared; after the last the result is computed.
    after = sorted(random.randint(0, budget) for _ in kinds)
    faults = [
        Fault(kind, moment, random.uniform(*(SECONDS | OF_REPLICAS | OF_VERSIONS)[kind]))
        for kind, moment in zip(sorted(kinds, key=LOST_DATA.__eq__), after, strict=True)
    ]
    lost = [number for number, one in enumerate(faults) if one.kind == LOST_DATA]
    return Schedule(
        seed,
        strategy,
        rows=random.randint(36, 48),
        budget=budget,
        faults=tuple(faults[: lost[0] + 1] if lost else faults),
    )
