"""Check the packages of the server's lock for known weaknesses: `make advisories`.

pip-audit skips a package for which the advisory service does not answer, and ends well. So a run in
which every package was skipped is reported as one without an answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from scripts.licences import LOCK

_COMMAND = ("pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off")


def assess(report: dict[str, Any]) -> tuple[int, list[str]]:
    """Return the exit code and the lines about a report of pip-audit."""
    packages = report["dependencies"]
    skipped = [each["name"] for each in packages if "skip_reason" in each]
    if len(skipped) == len(packages):
        return 0, ["the advisory service does not answer here: nothing was checked"]
    lines = [
        f"{each['name']} {each['version']}: {weakness['id']}, fixed in "
        f"{', '.join(weakness['fix_versions']) or 'no version'}"
        for each in packages
        for weakness in each.get("vulns", [])
    ]
    lines += [f"{name}: not checked" for name in skipped]
    return int(bool(lines)), lines or [f"{len(packages)} packages, none with a known weakness"]


def main() -> int:
    """Run pip-audit, print what it found, and return the exit code."""
    command = [sys.executable, "-m", *_COMMAND, "--format", "json", "-r", str(LOCK)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        print(f"pip-audit gave no report; nothing was checked: {ended.stderr.strip()[-300:]}")
        return 0
    code, lines = assess(report)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
