"""Generate what the Go and TypeScript clients have from the .proto files.

Run it with: python -m tools.generate_clients {go,typescript} [FOLDER]

Go's code is checked in, since Go modules are used from their source; TypeScript's is made before
each build. FOLDER takes the place of the client's own folder.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tools.protoc import PROTOS, ROOT, run_protoc

CLIENTS = ROOT / "client"
SERVICE_CONFIG = PROTOS / "svddtune" / "v1" / "service_config.json"
GO_MODULE = "github.com/svddtune/svddtune/client/go"
# Where `make protos` installs Go's plug-ins, in these versions.
GO_PLUGINS = {
    "protoc-gen-go": "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12",
    "protoc-gen-go-grpc": "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
}
# For Go, the packages of these files are on the module proxy.
GOOGLE = (
    "google/api/annotations.proto",
    "google/api/client.proto",
    "google/api/field_behavior.proto",
    "google/api/http.proto",
    "google/api/launch_stage.proto",
    "google/rpc/error_details.proto",
    "google/rpc/status.proto",
)


def contract() -> list[str]:
    """The .proto files of the contract."""
    return sorted(str(path.relative_to(PROTOS)) for path in PROTOS.glob("svddtune/v1/*.proto"))


def install_go_plugins() -> list[str]:
    """Install Go's plug-ins in .tools, each version once; return the arguments that name them."""
    arguments = []
    for name, package in GO_PLUGINS.items():
        folder = ROOT / ".tools" / package.rpartition("/")[2]
        if not (folder / name).exists():
            subprocess.run(
                ["go", "install", package],
                env={**os.environ, "GOBIN": str(folder), "GOTOOLCHAIN": "local"},
                check=True,
            )
        arguments.append(f"--plugin={name}={folder / name}")
    return arguments


def generate_go(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    run_protoc(
        *install_go_plugins(),
        f"--go_out={out}",
        f"--go_opt=module={GO_MODULE}",
        f"--go-grpc_out={out}",
        f"--go-grpc_opt=module={GO_MODULE}",
        files=contract(),
    )
    (out / "service_config.json").write_text(SERVICE_CONFIG.read_text())


def generate_typescript(out: Path) -> None:
    plugin = CLIENTS / "typescript" / "node_modules" / ".bin" / "protoc-gen-es"
    generated = out / "src" / "gen"
    generated.mkdir(parents=True, exist_ok=True)
    run_protoc(
        f"--plugin=protoc-gen-es={plugin}",
        f"--es_out={generated}",
        "--es_opt=target=ts,import_extension=js",
        files=[*contract(), *GOOGLE],
    )
    config = json.dumps(json.loads(SERVICE_CONFIG.read_text()), indent=2)
    (generated / "service_config.ts").write_text(
        f"export const serviceConfig = {config} as const;\n"
    )


if __name__ == "__main__":
    language, *folder = sys.argv[1:]
    generate = {"go": generate_go, "typescript": generate_typescript}[language]
    generate(Path(folder[0]) if folder else CLIENTS / language)
