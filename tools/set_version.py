"""Write the version of ``VERSION`` into the manifests of all packages.

``python tools/set_version.py 0.3.0`` changes ``VERSION`` first. Every ecosystem wants its version
as text in its own manifest; this tool is the only one that writes it there.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = ROOT / "VERSION"
SEMANTIC = re.compile(r"\d+\.\d+\.\d+")

# In each file, every group of the pattern is the version. Maven, npm, Cargo and pip agree on the
# form X.Y.Z; the version of a Go module is a tag of git.
_PYPROJECT = r'^version = "(.+)"$'
MANIFESTS: dict[str, tuple[str, ...]] = {
    "pyproject.toml": (_PYPROJECT, r'"svddtune-client\[cli\]==(.+)"'),
    "client/pyproject.toml": (_PYPROJECT,),
    "evaluation/pyproject.toml": (_PYPROJECT, r'"svddtune==(.+)"'),
    "client/go/client.go": (r'^const Version = "(.+)"$',),
    "client/typescript/package.json": (r'^  "version": "(.+)",$',),
    "client/typescript/package-lock.json": (r'"name": "@svddtune/client",\n +"version": "(.+)",$',),
    "client/typescript/src/version.ts": (r'^export const VERSION = "(.+)";$',),
    "console/package.json": (r'^  "version": "(.+)",$',),
    "console/package-lock.json": (r'"name": "@svddtune/console",\n +"version": "(.+)",$',),
    "client/java/pom.xml": (r"^  <version>(.+)</version>$",),
    "client/java/README.md": (r"^      <version>(.+)</version>$",),
    "client/rust/Cargo.toml": (_PYPROJECT,),
    "client/rust/Cargo.lock": (r'^name = "svddtune"\nversion = "(.+)"$',),
    "client/svddtune/version.py": (r'^__version__ = "(.+)"$',),
    "CITATION.cff": (r"^version: (.+)$",),
    "deploy/kubernetes/production/kustomization.yaml": (r"^    newTag: (.+)$",),
}


def versions(text: str, patterns: tuple[str, ...]) -> list[str]:
    """The versions that a manifest states.

    Raises
    ------
    LookupError
        One of the patterns is nowhere in the text.
    """
    found = [re.findall(pattern, text, re.MULTILINE) for pattern in patterns]
    for pattern, here in zip(patterns, found, strict=True):
        if not here:
            raise LookupError(f"nothing in the text is like {pattern}")
    return [version for here in found for version in here]


def with_version(text: str, patterns: tuple[str, ...], version: str) -> str:
    """The text of a manifest with another version."""
    for pattern in patterns:
        text = re.sub(
            pattern,
            lambda found: found[0].replace(found[1], version),
            text,
            flags=re.MULTILINE,
        )
    return text


def present() -> list[Path]:
    """The manifests that exist."""
    return [ROOT / name for name in MANIFESTS if (ROOT / name).exists()]


def main(arguments: list[str]) -> None:
    """Write the version, which an argument may change."""
    version = arguments[0] if arguments else VERSION.read_text().strip()
    if not SEMANTIC.fullmatch(version):
        raise SystemExit(f"{version!r} is no version; it has the form 1.2.3")
    VERSION.write_text(version + "\n")
    for path in present():
        patterns = MANIFESTS[str(path.relative_to(ROOT))]
        path.write_text(with_version(path.read_text(), patterns, version))


if __name__ == "__main__":
    main(sys.argv[1:])
