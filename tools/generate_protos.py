"""Generate the Python code beside the .proto files: python -m tools.generate_protos [FOLDER].

The generator is pinned in pyproject.toml: its output needs at least the protobuf and grpcio that
the base dependencies ask for, and works on the next major version of protobuf too.
"""

import sys
from pathlib import Path

from tools.protoc import PROTOS, run_protoc


def generate(out: Path) -> None:
    """Write ``*_pb2.py``, ``*_pb2.pyi`` and, for files with services, ``*_pb2_grpc.py`` to out."""
    protos = sorted(PROTOS.glob("svddtune/**/*.proto"))
    # The plug-in that types the stubs; next to this interpreter, whatever PATH says.
    plugin = Path(sys.executable).with_name("protoc-gen-mypy_grpc")
    with_services = [p for p in protos if "\nservice " in p.read_text()]
    run_protoc(f"--python_out={out}", f"--pyi_out={out}", files=protos)
    run_protoc(
        f"--plugin=protoc-gen-mypy_grpc={plugin}",
        f"--grpc_python_out={out}",
        f"--mypy_grpc_out={out}",
        files=with_services,
    )


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else PROTOS)
