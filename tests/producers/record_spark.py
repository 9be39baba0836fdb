"""Record events of the shop: `python -m tests.producers.record_spark FILE MODULE PROGRAM`.

For example `... record_spark tests/captures/spark_shop.jsonl spark_shop batch`. The Spark programs
run below /srv/shop, which must be writable. Other paths of this machine, in stack traces, are
replaced.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.spark_hooks.servers import recorder

ROOT = Path(__file__).parents[2]
FOLDER = Path("/srv/shop")


def work(module: str, program: str, url: str, folder: Path, seconds: float = 280) -> dict[str, Any]:
    """Run one of the programs to its end; return the record of its steps."""
    command = [sys.executable, "-m", f"tests.producers.{module}", program, url, str(folder)]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_USER": "spark"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    steps: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return steps


def record(file: Path, module: str, program: str) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with recorder(201) as server:
        steps = work(module, program, server.url, FOLDER, seconds=900)
    lines = [
        json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n"
        for event in server.events
    ]
    file.write_text("".join(lines).replace(str(ROOT), f"{FOLDER}/code"), encoding="utf-8")
    print(json.dumps(steps))


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
