"""`python -m headwater.local`: fetch Neo4j's jars to the user's cache and print the folder.

This is the last step of `make setup`. HEADWATER_CACHE names another cache folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.local.jars import ensure_jars
from headwater.local.progress import show_jars


def main() -> int:
    """Fetch the jars; return the exit code."""
    cache = os.environ.get("HEADWATER_CACHE")
    try:
        with show_jars() as progress:
            print(ensure_jars(Path(cache) if cache else None, progress))
    except HeadwaterError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
