"""What is fuzzed: every parser of what people, files and other programs send.

A target is given bytes. It may return, or raise one of the errors that it documents; anything else
is a finding.
"""

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tests.client import models

from svddtune.client import SvddModel
from svddtune.client.alertmanager.features import load_features
from svddtune.client.alertmanager.observations import from_alerts
from svddtune.client.alertmanager.payload import read_alerts, read_payloads
from svddtune.client.errors import SvddtuneError
from svddtune.client.files.data import read_data
from svddtune.client.files.labels import read_labels
from svddtune.client.files.numbers import parse_number, parse_numbers
from svddtune.client.files.read_table import read_table
from svddtune.client.files.record_reader import read_records
from svddtune.client.files.source import Source
from svddtune.client.tickets.mapping_file import load_mapping, mapping_text
from svddtune.client.tickets.observations import Columns, read_observations
from svddtune.client.tickets.ticket import TicketReader
from svddtune.client.webhooks.collection import RecordPaths, from_grafana, from_records
from svddtune.client.webhooks.signature import is_signed, read_secrets, signed_headers
from svddtune.fitted import ModelDamaged, parts_of_messages, read_file
from svddtune.process.settings import SettingsError, read_settings
from svddtune.service import convert, names
from svddtune.service.settings import Settings
from svddtune.state.errors import StateError
from svddtune.v1 import tuning_pb2


@dataclass(frozen=True)
class Target:
    """A parser, valid inputs to begin with, and the errors that it documents."""

    name: str
    parse: Callable[[bytes], object]
    seeds: Sequence[bytes]
    refusals: tuple[type[Exception], ...] = (SvddtuneError,)

    def __call__(self, data: bytes) -> None:
        """Parse; an error that the parser does not document passes through."""
        # (NumPy warns of headers that look like those of Python 2, and reads them.)
        with suppress(*self.refusals, UserWarning):
            self.parse(data)


_CSV = b'id,a,b,label\n1,0.5,"1,5",inlier\n2,1e-3,-7,outlier\n3,,x,\n'
_SEMICOLON = "größe;b\n1,5;2\n3;4\n".encode()
_ARFF = b"""@relation r
@attribute a numeric
@attribute 'b c' {x, 'y z'}
@attribute outlier {'yes','no'}
@data
1.5,x,'no'
?,'y z','yes'
{0 2, 2 'yes'}
"""
_TICKETS = (
    b'{"number": "SIR1", "close_code": "False positive", "state": "Closed", '
    b'"correlation_id": "7", "opened_at": "2026-03-01 10:00:00"}\n'
    b'{"number": "SIR2", "close_code": ["a"], "nested": {"x": [1, 2.5, null, true]}}\n'
)
_ALERTS: dict[str, Any] = {
    "version": "4",
    "groupKey": "{}:{}",
    "status": "firing",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "Load", "instance": "a:1"},
            "annotations": {"value": "7.5"},
            "startsAt": "2026-08-03T07:52:26.739266876Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "fingerprint": "c1",
        }
    ],
}
_GRAFANA = _ALERTS | {"version": "1", "alerts": [{**_ALERTS["alerts"][0], "values": {"A": 1.5}}]}
_FEATURES = b"""[features]
load = { annotation = "value" }
hour = { time = "hour", zone = "Europe/Berlin" }
kind = { label = "alertname", values = ["Load", "Disk"] }
"""
_SECRET = b"whsec_" + b"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=" + b"\n"


def _in_file(ending: str, parse: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Parse bytes that stand in a file: every reader of files is given a path."""
    folder = Path(tempfile.mkdtemp(prefix="svddtune-fuzz-"))

    def parsed(data: bytes) -> object:
        path = folder / f"input{ending}"
        path.write_bytes(data)
        return parse(path)

    return parsed


def _table(path: Path) -> object:
    return read_data(read_table(path))


def _tickets(path: Path) -> object:
    reader = TicketReader(load_mapping("servicenow-sir"), by_window=False)
    return [reader.read(record) for record in read_records(path)]


def _alerts(path: Path) -> object:
    features = load_features({"features": {"hour": {"time": "hour"}}})
    return from_alerts(read_alerts(read_payloads(path)), features)


def _grafana(data: bytes) -> object:
    return read_alerts([("payload", from_grafana(_json(data)))])


def _records(data: bytes) -> object:
    return read_alerts([("payload", from_records(_json(data), RecordPaths("id", "time")))])


def _json(data: bytes) -> Any:
    """What the receiver makes of a body before a parser of ours sees it."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _signature(data: bytes) -> object:
    headers, _, body = data.partition(b"\n\n")
    lines = (line.split(":", 1) for line in headers.decode("latin-1").split("\n"))
    found = {pair[0].strip().lower(): pair[1].strip() for pair in lines if len(pair) == 2}
    return is_signed((b"x" * 32,), found, body, 1_700_000_000.0)


def _names(data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    for parse in (names.dataset_id, names.session_id, names.result_id, names.model_id):
        _tolerant(parse, text)
    return _tolerant(convert.page_position, text), _tolerant(convert.resume_position, text)


def _tolerant(parse: Callable[[str], object], text: str) -> object:
    try:
        return parse(text)
    except StateError:
        return None


def _numbers(data: bytes) -> object:
    texts = data.decode("utf-8", "replace").split("\n")
    each = [parse_number(text, decimal) for text in texts for decimal in ".,"]
    return each, parse_numbers(texts)


def _settings(data: bytes) -> object:
    lines = data.decode("utf-8", "replace").split("\n")
    pairs = [line.split("=", 1) for line in lines if "=" in line]
    # (What argparse itself refuses ends the program with its own words.)
    known = [pair for pair in pairs if pair[0] in Settings.model_fields and pair[1]]
    options = [f"--{name.replace('_', '-')}={value}" for name, value in known if "\0" not in value]
    kept = [one for one in options if not one.startswith(("--reflection", "--insecure"))]
    return read_settings(Settings, kept, program="fuzz")


def _messages(data: bytes) -> object:
    """Length-prefixed messages of an exported model."""
    parts, at = [], 0
    while at < len(data):
        size = data[at] | (data[at + 1] << 8 if at + 1 < len(data) else 0)
        message = tuning_pb2.ExportModelResponse()
        message.ParseFromString(data[at + 2 : at + 2 + size])
        parts.append(message)
        at += 2 + size
    return parts_of_messages(parts)


def _model_seed() -> bytes:
    path = Path(tempfile.mkdtemp(prefix="svddtune-fuzz-")) / "model.npz"
    models.fit(n=20, m=2).save(path)
    return path.read_bytes()


def _model(data: bytes) -> object:
    return SvddModel(**read_file(io.BytesIO(data), "input", most_bytes=1 << 24))


def _in_archive(data: bytes, others: dict[str, bytes], name: str) -> bytes:
    """Return a ZIP archive with the data as one member, whose checksum is right."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for other, content in others.items():
            archive.writestr(other, content)
        archive.writestr(name, data)
    return file.getvalue()


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _array_seeds() -> tuple[bytes, bytes]:
    npy, npz = io.BytesIO(), io.BytesIO()
    np.save(npy, np.arange(6.0).reshape(3, 2))
    np.savez(npz, X=np.arange(6.0).reshape(3, 2), y=np.array([0, 1, 0]))
    return npy.getvalue(), npz.getvalue()


def _parquet_seed() -> bytes:
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    table = pyarrow.table({"id": ["a", "b"], "x": [1.5, None], "n": [{"k": 1}, {"k": 2}]})
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


def _message_seed() -> bytes:
    header = tuning_pb2.ExportModelResponse()
    header.header.gamma = 1.0
    header.header.support_vector_count = 1
    vectors = tuning_pb2.ExportModelResponse()
    vectors.support_vectors.rows.rows = vectors.support_vectors.rows.columns = 1
    vectors.support_vectors.rows.values = np.ones(1).tobytes()
    vectors.support_vectors.alphas.append(1.0)
    encoded = [one.SerializeToString() for one in (header, vectors)]
    return b"".join(len(one).to_bytes(2, "little") + one for one in encoded)


def make_targets() -> dict[str, Target]:
    """All targets by name."""
    npy, npz = _array_seeds()
    headers = signed_headers((b"x" * 32,), "msg_1", b"{}", 1_700_000_000.0)
    signed = "".join(f"{key}: {value}\n" for key, value in headers.items()).encode() + b"\n{}"
    session = b"sessions/p00-0123456789abcdef0123"
    model = _model_seed()
    others = _members(model)
    manifest, vectors = others.pop("manifest.json"), others.pop("support_vectors.npy")
    found = (
        Target("csv", _in_file(".csv", _table), [_CSV, _SEMICOLON]),
        Target("arff", _in_file(".arff", _table), [_ARFF]),
        Target("npy", _in_file(".npy", _table), [npy]),
        Target("npz", _in_file(".npz", _table), [npz]),
        Target("npz-array", _zipped_array, [npy]),
        Target("parquet", _in_file(".parquet", _table), [_parquet_seed()]),
        Target(
            "labels",
            _in_file(".csv", lambda path: read_labels(path, ["1", "2"], "outlier")),
            [b"observation,verdict\n1,inlier\n2,outlier\n", b"row,label\n0,1\n1,-1\n"],
        ),
        Target("tickets", _in_file(".jsonl", _tickets), [_TICKETS]),
        Target("tickets-csv", _in_file(".csv", _tickets), [b"number,close_code\nSIR1,Resolved\n"]),
        Target(
            "observations",
            _in_file(".csv", lambda path: read_observations(path, Columns(), by_window=True)),
            [b"id,key,time\na,host,2026-03-01T10:00:00Z\nb,host,1767225600\n"],
        ),
        Target(
            "mapping",
            _in_file(".toml", load_mapping),
            [mapping_text(name).encode() for name in ("jira", "ocsf")],
        ),
        Target("alerts", _in_file(".json", _alerts), [json.dumps(_ALERTS).encode()]),
        Target("grafana", _grafana, [json.dumps(_GRAFANA).encode()]),
        Target("records", _records, [b'[{"id": "a", "time": "2026-01-01T00:00:00Z", "v": {}}]']),
        Target("features", _in_file(".toml", load_features), [_FEATURES]),
        Target("secrets", _in_file(".txt", read_secrets), [_SECRET]),
        Target("signature", _signature, [signed]),
        Target("names", _names, [session, session + b"/results/1", b"datasets/" + b"a" * 32]),
        Target("numbers", _numbers, [b"1.5\n1e5\n-inf\n0x10\n1_000\n1.000,5"]),
        Target(
            "settings",
            _settings,
            [b"listen=127.0.0.1:1\nhttp_origins=https://a.example\nmax_rows=5\npartitions=2"],
            (SettingsError,),
        ),
        Target("model-file", _model, [model], (ModelDamaged, SvddtuneError)),
        Target(
            "model-manifest",
            lambda data: _model(
                _in_archive(data, others | {"support_vectors.npy": vectors}, "manifest.json")
            ),
            [manifest],
            (ModelDamaged, SvddtuneError),
        ),
        Target(
            "model-array",
            lambda data: _model(
                _in_archive(data, others | {"manifest.json": manifest}, "support_vectors.npy")
            ),
            [vectors],
            (ModelDamaged, SvddtuneError),
        ),
        Target("model-messages", _messages, [_message_seed()], (ModelDamaged, DecodeError)),
        Target("gzip", _gzip, [b"\x1f\x8b\x08\x00" + b"\0" * 16]),
    )
    return {target.name: target for target in found}


_npz = _in_file(".npz", _table)


def _zipped_array(data: bytes) -> object:
    return _npz(_in_archive(data, {}, "X.npy"))


_gzip = _in_file(".csv.gz", lambda path: Source.of(path).text())
