"""Every Redis key: its maker, its type and how long it lives.

All keys of one partition carry its hash tag, so one script may change them together, on a Redis
Cluster too. The scripts build the same names from the partition's prefix (``lib/base.lua``); a test
holds every key found in Redis against ``PATTERNS``.

================================= ======= =====================================================
key, after ``svddtune:{pNN}:``    type    content and lifetime
================================= ======= =====================================================
layout                            string  layout in force; permanent. That of partition 00 holds for
                                          processes, and the others follow it
layout:hold                       string  an operator wants no later layout; until they do
layout:older                      string  a process was there that knows no later layout; expires
                                          a minute after it was last seen
layout:migrated                   string  layout that all sessions have reached; permanent
service:NAME                      string  a living service; expires 15 s after its last sign
services                          set     their names; expires a minute after their last sign
sessions, datasets                zset    ids by creation time; an id leaves with its deletion
sessions:PROJECT,                 zset    those of one project, but for the default one
datasets:PROJECT
usage:PROJECT                     hash    what it has: sessions, datasets, bytes of rows
ended                             zset    sessions that have ended by the time of their end; an id
                                          leaves with its deletion, or when the session goes on
ending                            zset    those that say for how long they are kept, instead, by the
                                          time at which they go; none of those kept for good
unused                            zset    datasets that no session uses, by the time since when
q:hi, q:bulk                      stream  jobs for labelers, waiting or running, and all other jobs
                                          that are running; group ``workers``
q:LANE:todo:OWNER                 list    jobs of a session or dataset that wait for lane hi or bulk
q:LANE:turn                       zset    owners with such jobs by the time spent on them, in ms
                                          divided by their weight
q:LANE:service, q:LANE:clock      zset,   that time also of other owners, and the time that service
                                  string  has reached; until nothing waits or runs
q:wake                            stream  wakes workers for bulk jobs; the latest 64
q:later                           zset    failed jobs by the time at which they are tried again
q:attended                        string  some worker is there; expires 15 s after its last sign
q:served                          string  a worker takes bulk jobs; expires 15 s after its last sign
q:dead                            stream  dead letters, the latest 1,000 or so
notices                           stream  changed sessions, the latest 10,000 or so
labeling                          hash    sessions that ask: id -> "priority created_ms project",
                                          the project where it is not the default one
worker:NAME                       string  a living worker; expires 15 s after its last sign
request:UUID                      string  request id of a project -> session; expires after a day
call:ID                           string  reply of a script's call, for the same call made again;
                                          expires after a minute
data                              string  name of the data here, a random one; permanent. Where
                                          it is another than before, the data were lost
proof                             string  proof that the server takes writes; expires in a minute
probe                             string  the same, by services of layout 3, which leave no other
                                          sign
d:ID                              hash    a dataset's record, and StoredRows where its rows are in
                                          the dataset store; until deleted
d:ID:x:I                          string  rows, chunk I; expires in an hour until committed
d:ID:ids, d:ID:rows               hash    row -> observation id and back; as the chunks
d:ID:display                      hash    row -> Display; as the chunks
d:ID:sessions                     set     sessions that use it
d:ID:prep:K:R:I                   string  preparation for locality K and range R of gamma, chunk I;
                                          as d:ID; Kp instead of K: of the panel's rows alone
d:ID:prep:K:R:part:J:I            string  part J of it, chunk I; until it is complete
d:ID:waiting:K:R                  set     sessions that wait for preparation K:R
d:ID:atlases                      set     ranges of gamma that an atlas was asked for over
d:ID:atlas:R                      hash    state and jobs of the atlas over range R; as d:ID
d:ID:atlas:R:J:I                  string  its part J, chunk I; as d:ID
d:ID:atlas:R:flying               set     its parts whose job is queued or running
d:ID:atlas:R:users                set     sessions that need it
d:ID:rules                        hash    label-free rule -> FitOutput: what it says of the rows
d:ID:portrait:I                   string  a Portrait message, chunk I; from the first preparation on
u:UUID                            hash    an upload that may be resumed; expires when nothing was
                                          added for the retention time, an hour by default
u:UUID:parts                      list    its rows so far, or the objects in the dataset store that
                                          have them; expires with it
r:UUID:I                          any     part I of what is being restored; expires in an hour until
                                          it gets its name
m:ID                              list    an uploaded model file in pieces; expires after the time
                                          that its upload asked for
s:ID                              hash    a session's state; until deleted, like all below
s:ID:events                       stream  append-only log: labels, retractions, queries
s:ID:votes                        hash    row -> [[labeler, verdict, query], ...]: the fold over
                                          the events
s:ID:labels                       hash    row -> "verdict query": the labels in force
s:ID:withdrawn                    set     labelers whose votes are void
s:ID:labelers                     hash    labeler -> its pace and what to show it again, as JSON;
                                          with control items how many queries and items it had
s:ID:controls                     list    rows of control items, in the order they are asked in
s:ID:dropped                      set     rows that nobody is to be asked about: skipped so,
                                          or control items
s:ID:answers                      hash    labeler/answer id -> what it was and its receipt
s:ID:queries                      hash    n -> the query as JSON
s:ID:corrections                  hash    "row labeler" -> what it did there after its first vote;
                                          row -> the same of all labelers
s:ID:asked                        hash    row -> n of queries that want votes
s:ID:awaiting                     set     rows that have a label but want another vote
s:ID:open                         list    queries that wait for a labeler
s:ID:leases                       zset    lease id by expiry, Redis clock
s:ID:held                         hash    holder -> its lease ids
s:ID:ranked                       list    [row, predicted] to ask next, best first
s:ID:ranked_explanations          hash    row -> its Explanation
s:ID:explanations                 hash    n -> the query's Explanation; repeats have none; until
                                          the session ends, as ranked, waiting, waiters and fits
s:ID:waiting                      zset    holders that get queries once there are any, in order
s:ID:waiters                      hash    holder -> who it is and how many it wants
s:ID:preview:UUID                 string  a Preview; expires after a minute
s:ID:history                      hash    rev -> LiveEvidence: best cell and score at that moment
s:ID:moments                      hash    rev -> "ms point": when the rows were ranked, and of a
                                          HistoryPoint what history lacks
s:ID:cells                        string  a GetAtlasResponse message: what labels say of each cell
s:ID:places                       string  a LabelledPlaces message
s:ID:margins                      string  a Margins message: the best cell's of the rows of the map
s:ID:fits                         hash    plan and FIT outputs of the result being computed
s:ID:result:REV                   string  a Result message
s:ID:model:REV                    list    the model's ExportModelResponse messages
================================= ======= =====================================================
"""

import hashlib
import re
import secrets
import struct
import zlib
from uuid import uuid4

from svddtune.state.session import DatasetId, ModelId, SessionId

GROUP = "workers"
# The newest layout that this version can write, and the oldest that it can run with.
LAYOUT_VERSION = 4
OLDEST_LAYOUT = 3

# Largest string value written by Python.
CHUNK_BYTES = 1 << 20

_SESSION_ID = re.compile(r"p(\d{2,4})-[0-9a-f]{20}")
_DATASET_ID = _MODEL_ID = re.compile(r"[0-9a-f]{32}")

_SESSION = r"s:p\d{2,4}-[0-9a-f]{20}"
_DATASET = r"d:[0-9a-f]{32}"
# Names of projects.
PROJECT = r"[a-z0-9][a-z0-9._-]{0,62}"
_RANGE = r"(default|[0-9a-f]{16})"

# Groups of keys, by what they are about. Every script declares those that it may touch, but for
# "call", which keeps replies for all of them, and "layout", which all may read.
PATTERNS = {
    group: re.compile(rf"svddtune:\{{p\d+\}}:({tail})")
    for group, tail in {
        "layout": "layout",
        "server": "layout:(hold|older|migrated)|data|probe|proof|services|service:[0-9a-f]+",
        "index": rf"(sessions|datasets)(:{PROJECT})?|usage:{PROJECT}|request:.+",
        "retention": "ended|ending|unused",
        "labeling": "labeling",
        "notices": "notices",
        "queue": r"q:(hi|bulk)(:(turn|service|clock|todo:.+))?"
        r"|q:(dead|wake|later|attended|served)|worker:.+",
        "call": "call:[0-9a-f]+",
        "dataset": _DATASET
        + r"(:x:\d+|:ids|:rows|:display|:sessions|:atlases"
        + rf"|:prep:\d+p?:{_RANGE}(:part:\d+)?:\d+|:waiting:\d+p?:{_RANGE}"
        + rf"|:atlas:{_RANGE}(:\d+:\d+|:flying|:users)?|:rules|:portrait:\d+)?",
        "model": r"m:[0-9a-f]{32}",
        "restore": r"r:[0-9a-f]{32}:\d+",
        "upload": r"u:[0-9a-f-]{36}(:parts)?",
        "session": _SESSION
        + r"(:(events|votes|labels|withdrawn|labelers|dropped|answers|queries|asked|awaiting|open"
        + r"|leases|held|ranked|ranked_explanations|explanations|waiting|waiters|history|fits"
        + r"|corrections|moments|cells|places|margins|controls)"
        + r"|:(result|model):\d+|:preview:[0-9a-f]+)?",
    }.items()
}


def group_of(key: str) -> str | None:
    """The group of keys that a key belongs to; None where no key looks like that."""
    matching = (group for group, pattern in PATTERNS.items() if pattern.fullmatch(key))
    return next(matching, None)


def prefix(partition: int) -> str:
    """Start of every key of a partition."""
    return f"svddtune:{{p{partition:02d}}}:"


def partition_of_dataset(dataset_id: DatasetId, partitions: int) -> int:
    """The partition that holds a dataset and all sessions on it."""
    return zlib.crc32(dataset_id.encode()) % partitions


def usage(partition: int, project: str) -> str:
    """Key of what a project has in a partition."""
    return f"{prefix(partition)}usage:{project}"


def new_session_id(partition: int) -> SessionId:
    """A fresh id. It carries its partition, so that any process finds the session's keys."""
    return SessionId(f"p{partition:02d}-{uuid4().hex[:20]}")


def is_session_id(text: str) -> bool:
    """Whether ``new_session_id`` could have made it."""
    return _SESSION_ID.fullmatch(text) is not None


def is_dataset_id(text: str) -> bool:
    """Whether it has the form of a dataset id."""
    return _DATASET_ID.fullmatch(text) is not None


def is_model_id(text: str) -> bool:
    """Whether it has the form of a model's id."""
    return _MODEL_ID.fullmatch(text) is not None


def partition_of_session(session_id: SessionId) -> int:
    """Inverse of ``new_session_id``; the only place that looks into an id."""
    match = _SESSION_ID.fullmatch(session_id)
    if match is None:
        raise ValueError(f"not a session id: {session_id!r}")
    return int(match.group(1))


def partition_of_model(model_id: ModelId, partitions: int) -> int:
    """The partition that holds an uploaded model."""
    return zlib.crc32(model_id.encode()) % partitions


def model(partition: int, model_id: ModelId) -> str:
    """An uploaded model's key."""
    return f"{prefix(partition)}m:{model_id}"


def partition_of_upload(upload_id: str, partitions: int) -> int:
    """The partition that holds what is known of an upload."""
    return zlib.crc32(upload_id.encode()) % partitions


def upload(partition: int, upload_id: str, part: str = "") -> str:
    """An upload's key: ``upload(p, id)``, ``upload(p, id, "parts")``."""
    tail = f":{part}" if part else ""
    return f"{prefix(partition)}u:{upload_id}{tail}"


def range_name(gamma_bounds: tuple[float, float] | None) -> str:
    """Name of a range of gamma; ``default`` for the one that follows from the data."""
    if gamma_bounds is None:
        return "default"
    return hashlib.sha256(struct.pack("<2d", *gamma_bounds)).hexdigest()[:16]


def preparation_name(k: int, gamma_bounds: tuple[float, float] | None, *, panel: bool) -> str:
    """Name of a dataset's preparation for a locality over a range of gamma.

    ``panel``: of the panel's rows alone.
    """
    return f"{k}{'p' if panel else ''}:{range_name(gamma_bounds)}"


def new_call(prefix: str) -> str:
    """Key of the reply of one call of a script; the same for all attempts at the call."""
    return f"{prefix}call:{secrets.token_hex(16)}"


def request_call(prefix: str, request_id: str) -> str:
    """Key of the reply of a call that its caller gave an id, a UUID."""
    return f"{prefix}call:{request_id.replace('-', '')}"


def staged(prefix: str, restore_id: str, index: int) -> str:
    """Key of a part of what is being restored, before it gets its name."""
    return f"{prefix}r:{restore_id}:{index}"


def session(session_id: SessionId, part: str = "") -> str:
    """A session's key: ``session(id)``, ``session(id, "events")``, ``session(id, "result:3")``."""
    tail = f":{part}" if part else ""
    return f"{prefix(partition_of_session(session_id))}s:{session_id}{tail}"


def dataset(partition: int, dataset_id: DatasetId, part: str = "") -> str:
    """A dataset's key: ``dataset(p, id)``, ``dataset(p, id, "x:0")``."""
    tail = f":{part}" if part else ""
    return f"{prefix(partition)}d:{dataset_id}{tail}"
