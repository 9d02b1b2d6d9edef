"""protoc with the imports of the contract, for everything that is made of the .proto files.

The imported files of Google are those of the installed packages, so nothing needs a network.
"""

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from google.rpc import status_pb2
from grpc_tools import protoc

ROOT = Path(__file__).parent.parent
PROTOS = ROOT / "protos"
# protoc carries its own google/protobuf; google/api and google/rpc come with
# googleapis-common-protos.
IMPORTS = (
    Path(status_pb2.__file__).parents[2],
    Path(str(files("grpc_tools").joinpath("_proto"))),
)


def run_protoc(*arguments: str, files: Iterable[str | Path], protos: Path = PROTOS) -> None:
    """Run protoc on .proto files below a folder, or on imported ones by their names.

    Raises SystemExit where they do not compile.
    """
    includes = [f"-I{folder}" for folder in (protos, *IMPORTS)]
    if protoc.main(["protoc", *includes, *arguments, *map(str, files)]) != 0:
        raise SystemExit("protoc failed, see above")
