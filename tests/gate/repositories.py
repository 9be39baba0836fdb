"""Real git repositories in a temporary folder, with a branch `main` and work that leaves it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class GitRepository:
    """A repository with one commit on `main`; `work` writes files on a branch of its own, committed or not."""

    def __init__(self, folder: Path, files: dict[str, str | bytes]) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.write(files)
        self.commit()

    def git(self, *arguments: str) -> str:
        environment = {
            **os.environ,
            **{
                f"GIT_{who}_{what}": "tests@example.com"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        ended = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=True
        )
        return ended.stdout.strip()

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            place = self.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "work", "--allow-empty")

    def branch(self, files: dict[str, str | bytes] | None = None) -> None:
        self.git("checkout", "-q", "-b", "work")
        self.write(files or {})
        self.commit()
