"""A real Alertmanager on loopback, which groups alerts by their root cause."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.local.ports import free_port
from tests.end_to_end.conftest import answers_at, wait_for

PROGRAM = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
_CONFIG = """
route:
  receiver: nobody
  group_by: [root]
  group_wait: 1h
receivers:
  - name: nobody
"""


@contextmanager
def alertmanager(folder: Path) -> Iterator[str]:
    """Start an Alertmanager that notifies nobody, and yield its address."""
    assert PROGRAM is not None
    port = free_port()
    (folder / "alertmanager.yml").write_text(_CONFIG, encoding="utf-8")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                PROGRAM,
                f"--config.file={folder}/alertmanager.yml",
                f"--storage.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
                "--cluster.listen-address=",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: answers_at(f"{url}/-/ready"))
        yield url
    finally:
        process.terminate()
        process.wait(15)
