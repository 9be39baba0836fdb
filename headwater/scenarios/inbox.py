"""Where the alerts of a story arrive: a webhook in this process, and a real Alertmanager if the
machine has one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from headwater.errors import ServerError
from headwater.local.ports import HOST, free_port
from headwater.local.signals import delayed_signals
from headwater.local.startup import StartupWatch
from headwater.scenarios.receiver import receiving

_PROGRAM = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
_STALL_SECONDS = 60.0
_POLL_SECONDS = 0.2
_END_SECONDS = 15.0
_ANSWER_SECONDS = 10.0
# Alertmanager groups the alerts; nobody is notified.
_CONFIG = """\
route:
  receiver: nobody
  group_by: [root]
receivers:
  - name: nobody
"""

Message = dict[str, Any]


class Inbox:
    """The messages that arrived, and the address of the Alertmanager; "" without one."""

    def __init__(self, url: str, alertmanager: str, messages: list[Message]) -> None:
        self.url = url
        self.alertmanager = alertmanager
        self.messages = messages

    def newest(self, dedup_key: str, status: str) -> Message | None:
        """Return the newest message about an alert in a status."""
        found = [
            one for one in self.messages if one["dedupKey"] == dedup_key and one["status"] == status
        ]
        return found[-1] if found else None

    def group(self, dedup_key: str) -> list[Message]:
        """Return the alerts that Alertmanager shows in the group of one root cause."""
        if not self.alertmanager:
            return []
        address = f"{self.alertmanager}/api/v2/alerts/groups"
        with urllib.request.urlopen(address, timeout=_ANSWER_SECONDS) as answer:
            groups = json.loads(answer.read())
        found: list[Message] = []
        for group in groups:
            if group["labels"].get("root") == dedup_key:
                found += group["alerts"]
        return found


@contextmanager
def open_inbox(folder: Path) -> Iterator[Inbox]:
    """Receive alerts until the end of the block; start an Alertmanager if it is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    messages: list[Message] = []
    with _alertmanager(folder) as address, receiving(messages.append, status=200) as url:
        yield Inbox(f"{url}/alerts", address, messages)


@contextmanager
def _alertmanager(folder: Path) -> Iterator[str]:
    if _PROGRAM is None:
        yield ""
        return
    port = free_port()
    config, log = folder / "alertmanager.yml", folder / "alertmanager.log"
    config.write_text(_CONFIG, encoding="utf-8")
    with ExitStack() as ends:
        with log.open("wb") as output, delayed_signals():
            process = subprocess.Popen(
                [
                    _PROGRAM,
                    f"--config.file={config}",
                    f"--storage.path={folder / 'alertmanager'}",
                    f"--web.listen-address={HOST}:{port}",
                    "--cluster.listen-address=",
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # A Ctrl-C in the terminal reaches this process only; it ends the other.
                start_new_session=True,
            )
            ends.callback(_end, process)
        address = f"http://{HOST}:{port}"
        _wait_ready(process, f"{address}/-/ready", log)
        yield address


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_ready(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    watch = StartupWatch(process.pid, [log], _STALL_SECONDS)
    while not _is_ready(address):
        if process.poll() is not None or watch.is_stalled():
            raise ServerError("Alertmanager does not start", hint=f"Read {log}.")
        time.sleep(_POLL_SECONDS)


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=_ANSWER_SECONDS) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
