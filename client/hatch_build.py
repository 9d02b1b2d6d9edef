"""Add the wire contract, which the source tree keeps beside the client, to sdist and wheel."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The jobs, which are between service and workers, are in their distribution.
PARTS = ("v1", "config")


class WireContract(BuildHookInterface):  # type: ignore[type-arg]
    """Finds the contract beside the project, or inside it where the project is an sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folders to add; an editable installation finds them by its paths."""
        if version == "editable":
            return
        inside = Path(self.root, "protos")
        protos = inside if inside.is_dir() else Path(self.root).parent / "protos"
        target = "protos/svddtune" if self.target_name == "sdist" else "svddtune"
        for part in PARTS:
            build_data["force_include"][str(protos / "svddtune" / part)] = f"{target}/{part}"
