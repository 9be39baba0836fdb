"""Real git repositories in a temporary folder, with a branch `main` and work that leaves it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class GitRepository:
    """A repository with one commit on `main`; `branch` commits files on a branch `work`."""

    def __init__(self, folder: Path, files: dict[str, str | bytes]) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.write(files)
        self.commit()

    def git(self, *arguments: str) -> str:
        names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
        identity = {f"GIT_{name}": "tests@example.com" for name in names}
        environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": "/dev/null"}
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        ended = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=True
        )
        return ended.stdout.strip()

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "work", "--allow-empty")

    def branch(self, files: dict[str, str | bytes] | None = None) -> None:
        self.git("checkout", "-q", "-b", "work")
        self.write(files or {})
        self.commit()
