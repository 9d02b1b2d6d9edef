"""Generate the Python code beside the .proto files.

The generator is pinned in pyproject.toml: its output needs at least the protobuf and grpcio that
the base dependencies ask for, and works on the next major version of protobuf too.
"""

import sys
from importlib.resources import files
from pathlib import Path

from google.rpc import status_pb2
from grpc_tools import protoc

ROOT = Path(__file__).parent.parent


def generate(out: Path) -> None:
    """Write ``*_pb2.py``, ``*_pb2.pyi`` and, for files with services, ``*_pb2_grpc.py`` to out."""
    source = ROOT / "protos"
    protos = sorted(source.glob("svddtune/v1/*.proto"))
    # protoc carries its own google/protobuf; the others come with googleapis-common-protos.
    googleapis = Path(status_pb2.__file__).parents[2]
    common = [
        "protoc",
        f"-I{source}",
        f"-I{googleapis}",
        f"-I{files('grpc_tools').joinpath('_proto')}",
    ]
    # The plug-in that types the stubs; next to this interpreter, whatever PATH says.
    plugin = Path(sys.executable).with_name("protoc-gen-mypy_grpc")
    with_services = [p for p in protos if "\nservice " in p.read_text()]
    runs = [
        [*common, f"--python_out={out}", f"--pyi_out={out}", *map(str, protos)],
        [
            *common,
            f"--plugin=protoc-gen-mypy_grpc={plugin}",
            f"--grpc_python_out={out}",
            f"--mypy_grpc_out={out}",
            *map(str, with_services),
        ],
    ]
    for run in runs:
        if protoc.main(run) != 0:
            raise SystemExit("protoc failed, see above")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "protos")
