"""``python -m tools.audit``: known weaknesses of the installed packages, by pip-audit.

Ends with 1 where there is one, and with 2 where no list of weaknesses could be reached: nothing is
known of the packages then.
"""

import json
import subprocess
import sys
from typing import Any


def main() -> int:
    """Audit this environment; return the exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--local", "--format", "json"],
        capture_output=True,
        text=True,
    )
    try:
        document = json.loads(done.stdout)
    except ValueError:
        print(f"pip-audit failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return 2
    code, lines = judge(document)
    print("\n".join(lines))
    return code


def judge(document: Any) -> tuple[int, list[str]]:
    """The exit code, and what to print, for pip-audit's JSON document."""
    packages = document["dependencies"]
    audited = [one for one in packages if "skip_reason" not in one]
    lines = [
        f"{one['name']} {one['version']}: {weakness['id']}, mended in "
        f"{', '.join(weakness['fix_versions']) or 'no version'}"
        for one in audited
        for weakness in one["vulns"]
    ]
    if not audited:
        return 2, ["No list of weaknesses could be reached: no package was audited."]
    lines.append(f"{len(audited)} of {len(packages)} packages audited, {len(lines)} weaknesses")
    return (1 if len(lines) > 1 else 0), lines


if __name__ == "__main__":
    sys.exit(main())
