"""The table: name, type, default, range, help and command-line option of each setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict, TypeVar

from google.protobuf.descriptor import EnumDescriptor

from svddtune.config.numbers import Numbers
from svddtune.config.words import words
from svddtune.v1 import config_pb2

T = TypeVar("T")

MESSAGE = config_pb2.SessionConfig.DESCRIPTOR
OBSERVATIONS = "N"
"""Upper end of the range of a setting that counts observations of the dataset."""

MOST_VISIBLE_FEATURES = 100
"""More values than that nobody looks at for one answer."""

MOST_ADJUDICATORS = 10
MOST_TAGS = 16
MOST_TRUSTS = 100

ATLAS_STRATEGIES = frozenset({"disagreement", "knowledge_gradient", "mixed"})


def _setting(
    default: T,
    help: str,
    low: float | None = None,
    high: float | str | None = None,
    *,
    option: str = "",
    stands_for: str = "",
    pattern: str = "",
    most: int = 0,
    each: str = "",
) -> T:
    """Return the dataclass field of a setting; see `Setting`."""
    row: dict[str, Any] = {
        "help": help,
        "low": low,
        "high": high,
        "option": option,
        "stands_for": stands_for,
    }
    row |= {"pattern": pattern, "most": most, "each": each}
    made: T = field(default=default, metadata=row)
    return made


@dataclass(frozen=True, slots=True, repr=False)
class SessionConfig:
    """Everything that decides which queries are asked and what comes out.

    A zero stands for the default, as on the wire.
    """

    k: int = _setting(
        5,
        "Locality: number of nearest neighbours that a label is spread to, including the row "
        "itself.",
        1,
        1000,
        option="--neighbors",
    )
    budget: int = _setting(
        0,
        "Number of labels after which the result is computed, including initial labels.",
        1,
        OBSERVATIONS,
        stands_for="50, or N if that is less",
    )
    strategy: str = _setting("mixed", "Rule that chooses the next query.")
    candidate_sample: int = _setting(
        100, "Number of unlabelled rows considered for one query.", 1, 100_000
    )
    gamma_bounds: tuple[float, float] | None = _setting(
        None,
        "Smallest and largest gamma to choose from, in inverse squared units of the scaled data.",
        stands_for="from the data",
    )
    c_cells: int = _setting(20, "Number of cells of the grid of C.", 2, 200, option="--cells")
    c_spacing: str = _setting("linear", "Spacing of the grid of C.")
    metric: str = _setting("kappa", "Score that chooses C and is reported as quality.")
    seed: int = _setting(
        0,
        "The same dataset, settings, seed and order of labels give the same queries.",
        0,
        2**64 - 1,
    )
    lease_seconds: float = _setting(
        60.0,
        "Seconds after which a query goes from a labeler of unknown pace to another labeler. "
        "Once a labeler's pace is known, its leases last between half and four times this.",
        1.0,
        86_400.0,
    )
    audit: int = _setting(
        0,
        "Number of uniformly drawn observations that are asked like the others but kept out "
        "of tuning. They give an unbiased score and are part of the budget.",
        0,
        OBSERVATIONS,
    )
    auto_finish: bool = _setting(False, "Lets the session finish by itself once a stop rule holds.")
    overlap: int = _setting(
        1,
        "Number of votes sought on each queried observation, each from a different labeler. "
        "The budget counts observations, not votes.",
        1,
        10,
    )
    overlap_rule: str = _setting(
        "always", "Rule that decides when an observation gets more than one vote."
    )
    overlap_limit: int = _setting(
        0,
        "Largest number of votes on one observation, at least overlap. After a tie or "
        "UNSURE, one more labeler is asked, up to this limit.",
        1,
        20,
        stands_for="overlap + 1 if overlap is above 1 and adjudicators is empty, else overlap",
    )
    aggregation: str = _setting(
        "majority", "Rule that turns several votes on an observation into its label."
    )
    repeat_every: int = _setting(
        0,
        "Number of answers after which a labeler gets a repeat: one of the observations it "
        "has answered, to see whether it gives the same answer. 0 means never. Repeats are "
        "not votes.",
        0,
        1000,
    )
    priority: int = _setting(
        0,
        "A labeler that serves several sessions gets the queries of sessions with higher "
        "priority first. Where workers are short, 25 more double the session's share of them.",
        -100,
        100,
    )
    label_noise: float | None = _setting(
        None,
        "Probability that an answer is wrong, for answers without a confidence of their own, of "
        "labelers who are not in trusts. "
        "The strategies that use the atlas then trust labels less, and doubt those that contradict "
        "others. Labels known when the session is created are taken as true.",
        0.0,
        0.45,
        stands_for="estimated once observations have several votes, 0 before",
    )
    c_tie_rule: str = _setting(
        "plateau",
        "Which cell of the grid of C is taken where several have the best score: the middle of "
        "the longest plateau, or the first, as in the code of the method's authors. The atlas "
        "has a rule of its own.",
    )
    tau_rule: str = _setting(
        "propagated",
        "How the strategy lama assesses a query: the possible label is spread over the row's "
        "neighbours like any other, or it counts at the row alone, as the paper prints tau.",
    )

    own_strategy: str = _setting(
        "",
        "Query strategy of another package, used instead of strategy: the name of its entry point "
        "in the group svddtune.strategies, where all workers have the package.",
        stands_for="none",
        pattern="[A-Za-z][A-Za-z0-9_-]{0,63}",
    )
    raw_features: bool = _setting(
        True,
        "Shows labelers the values of the row that they are asked about. Without it they see the "
        "display fields, and nothing that is computed from the row's values.",
    )
    blind: bool = _setting(
        False,
        "Hides from labelers what others said: nearby verdicts, counts by class, and all that the "
        "session has learnt from its labels.",
    )
    visible_features: Sequence[str | int] = _setting(
        (),
        "Features that labelers see, in this order. Of the others they see neither values nor "
        "names, and nothing that is computed from them.",
        option="--visible-feature",
        stands_for="all",
        most=MOST_VISIBLE_FEATURES,
        each="features of the dataset, each by its name or its column, counted from 0",
    )
    adjudicators: Sequence[str] = _setting(
        (),
        "Labelers who decide. Once an observation has as many votes as overlap_limit allows, and "
        "they are a tie or nobody is sure, it is asked of one of these, whose vote is the label. "
        "Without adjudicators the label is UNSURE.",
        option="--adjudicator",
        stands_for="none",
        pattern="[A-Za-z0-9._@-]{1,64}",
        most=MOST_ADJUDICATORS,
        each='names of labelers, of 1 to 64 letters, digits and characters of "._@-"',
    )
    required_tags: Sequence[str] = _setting(
        (),
        "Tags that a labeler must have announced, all of them, to get queries of the session, e.g. "
        "a skill or a language. Unasked answers are taken from everybody.",
        option="--required-tag",
        stands_for="none",
        pattern="[A-Za-z0-9._@-]{1,64}",
        most=MOST_TAGS,
        each='tags of 1 to 64 letters, digits and characters of "._@-"',
    )
    due_seconds: int = _setting(
        0,
        "Seconds after its creation at which the session is due. Of sessions with equal priority, "
        "labelers are asked first in the one that is due first, and in sessions without a due time "
        "last. Nothing ends when it is overdue.",
        1,
        31_536_000,
        stands_for="none",
    )
    control_share: float | None = _setting(
        None,
        "Share of each labeler's queries that are control items, while it has not had all of them. "
        "Without control items it has no effect.",
        0.0,
        0.5,
        stands_for="0.1",
    )
    trusts: Mapping[str, float] = _setting(
        Numbers(),
        "Probability that an answer of a labeler is right, by labeler. It replaces label_noise for "
        "votes without a confidence of their own, also for labels that the labeler gave when the "
        "session was created.",
        0.5,
        1.0,
        option="--trust",
        stands_for="none",
        pattern="[A-Za-z0-9._@-]{1,64}",
        most=MOST_TRUSTS,
        each="labelers",
    )

    def __repr__(self) -> str:
        """Return the settings that differ from the defaults, as one would write them."""
        values = ((one, getattr(self, one.name)) for one in fields(self))
        given = [f"{one.name}={value!r}" for one, value in values if value != one.default]
        return f"SessionConfig({', '.join(given)})"

    @property
    def needs_atlas(self) -> bool:
        """Whether queries are chosen by the atlas, and so cannot be before it is there."""
        return bool(self.own_strategy) or self.strategy in ATLAS_STRATEGIES


class Settings(TypedDict, total=False):
    """The fields of `SessionConfig` as keyword arguments; None stands for the default too."""

    k: int | None
    budget: int | None
    strategy: str | None
    candidate_sample: int | None
    gamma_bounds: tuple[float, float] | None
    c_cells: int | None
    c_spacing: str | None
    metric: str | None
    seed: int | None
    lease_seconds: float | None
    audit: int | None
    auto_finish: bool | None
    overlap: int | None
    overlap_rule: str | None
    overlap_limit: int | None
    aggregation: str | None
    repeat_every: int | None
    priority: int | None
    label_noise: float | None
    c_tie_rule: str | None
    tau_rule: str | None
    own_strategy: str | None
    raw_features: bool | None
    blind: bool | None
    visible_features: Sequence[str | int] | None
    adjudicators: Sequence[str] | None
    required_tags: Sequence[str] | None
    due_seconds: int | None
    control_share: float | None
    trusts: Mapping[str, float] | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    `default` is None or 0 where the default depends on the data or on other settings: `stands_for`
    says on what. `high` is `OBSERVATIONS` where the dataset's size is the limit. `enum` holds the
    words of a setting that is a word. `pattern` is that of a text, of each text of a list, or of
    each name that has a number, which is above `low` then. A list, and such names, are at most
    `most` of what `each` says. `wire` names the fields of the message.
    """

    name: str
    default: Any
    help: str
    low: float | None
    high: float | str | None
    stands_for: str
    option: str
    enum: EnumDescriptor | None
    pattern: str
    most: int
    each: str
    wire: tuple[str, ...]

    @property
    def is_pair(self) -> bool:
        """Whether the setting is two numbers, of which each has a field in the message."""
        return len(self.wire) == 2

    @property
    def is_list(self) -> bool:
        """Whether the setting is any number of texts, in one field of the message."""
        return self.default == ()

    @property
    def is_map(self) -> bool:
        """Whether the setting is any number of names with a number each, in one field."""
        return isinstance(self.default, Numbers)

    @property
    def is_optional(self) -> bool:
        """Whether zero is a value like others: None, or an absent field, stands for the default."""
        return MESSAGE.fields_by_name[self.wire[0]].has_presence

    @property
    def words(self) -> tuple[str, ...]:
        """The words that the setting takes, if it is a word."""
        return () if self.enum is None else tuple(words(self.enum))

    @property
    def allowed(self) -> str:
        """What the setting takes, in words."""
        if self.words:
            return ", ".join(self.words)
        if self.is_list:
            return f"up to {self.most} different {self.each}"
        if self.is_map:
            number = f"a number above {self.low:g}, at most {self.high:g}"
            return f"up to {self.most} {self.each}, each with {number}"
        if self.pattern:
            return 'a letter and up to 63 letters, digits, "_" and "-"'
        if self.low is not None:
            high = f"{self.high:g}" if isinstance(self.high, float) else str(self.high)
            return f"{self.low:g} to {high}"
        if isinstance(self.default, bool):
            return "true or false"
        return "two finite numbers, 0 < LOW < HIGH"

    @property
    def default_text(self) -> str:
        """The default in words."""
        if self.stands_for:
            return self.stands_for
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default).lower()

    @property
    def text(self) -> str:
        """All that a person needs to know of the setting."""
        return f"{self.help} Allowed: {self.allowed}; default: {self.default_text}."


def _row(name: str, default: Any, metadata: Any) -> Setting:
    wire = ("gamma_min", "gamma_max") if name == "gamma_bounds" else (name,)
    return Setting(
        name=name,
        default=default,
        help=metadata["help"],
        low=metadata["low"],
        high=metadata["high"],
        stands_for=metadata["stands_for"],
        option=metadata["option"] or "--" + name.replace("_", "-"),
        enum=MESSAGE.fields_by_name[wire[0]].enum_type,
        pattern=metadata["pattern"],
        most=metadata["most"],
        each=metadata["each"],
        wire=wire,
    )


SETTINGS: dict[str, Setting] = {
    one.name: _row(one.name, one.default, one.metadata) for one in fields(SessionConfig)
}

SessionConfig.__doc__ = f"{SessionConfig.__doc__}\n    Parameters\n    ----------" + "".join(
    f"\n    {one.name} : {one.allowed}; default {one.default_text}\n        {one.help}"
    for one in SETTINGS.values()
)
