"""Check the types of the page's JavaScript with TypeScript.

    python -m scripts.page_types

Needs Node and npm. Without them it says so and checks nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from scripts.npm_packages import installed

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "scripts" / "page_tools"


def main() -> int:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        print("The types of the page are not checked: that needs node and npm.", file=sys.stderr)
        return 0
    compiler = installed(TOOLS) / "node_modules" / "typescript" / "bin" / "tsc"
    command = [node, str(compiler), "--project", str(ROOT / "jsconfig.json")]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
