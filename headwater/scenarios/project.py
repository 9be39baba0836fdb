"""A project of SQL models in a real git repository, and the gate on its branches.

A model is a file `models/NAME.sql`, as dbt has them. Its job runs the file of the working tree in
SQLite, on the tables of the story. The version of the job is the commit that last changed the file.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headwater.errors import ServerError
from headwater.scenarios.rows import Rows
from headwater.scenarios.workshop import Job

MAIN = "main"
COMMENT_FILE = "comment.md"
_IDENTITY = "scenario@localhost"
_REF = re.compile(r"\{\{\s*ref\('(\w+)'\)\s*\}\}")
_SOURCE = re.compile(r"\{\{\s*source\('\w+',\s*'(\w+)'\)\s*\}\}")


@dataclass(frozen=True)
class Model:
    """What is declared about a model beside its SQL.

    types: by column of any version of the model, its type.
    columns: by column of any version, the (dataset, column) pairs that it is made from.
    """

    name: str
    inputs: tuple[str, ...]
    types: Mapping[str, str]
    columns: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    owner: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the gate answered: its exit code, its report, and the comment for the pull request."""

    exit_code: int
    report: Mapping[str, Any]
    comment: str

    @property
    def broken(self) -> list[str]:
        """Return the urns of the assets that would break."""
        affected = self.report["affected"]
        return sorted(one["urn"] for one in affected if one["severity"] == "breaking")


class Project:
    """A repository with a branch `main`; the commits of other branches are pull requests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reports = folder.with_name(f"{folder.name}-reports")

    def create(self, models: Mapping[str, str]) -> None:
        """Create the repository with a first commit on `main`."""
        self._folder.mkdir(parents=True)
        self._git("init", "-q", "-b", MAIN)
        self._commit("Add the models", models)

    def propose(self, branch: str, models: Mapping[str, str]) -> None:
        """Commit changed models on a new branch that leaves `main`, and return to `main`."""
        self._git("checkout", "-q", "-b", branch, MAIN)
        self._commit(branch, models)
        self._git("checkout", "-q", MAIN)

    def merge(self, branch: str) -> None:
        """Merge a branch into `main`."""
        self._git("merge", "-q", "--no-ff", "-m", f"Merge {branch}", branch)

    def job(self, model: Model) -> Job:
        """Return the job of a model as the working tree has it."""
        file = Path("models") / f"{model.name}.sql"
        query = render((self._folder / file).read_text(encoding="utf-8"))

        def compute(*tables: Rows) -> Rows:
            return run_query(query, dict(zip(model.inputs, tables, strict=True)))

        return Job(
            model.name,
            model.inputs,
            model.name,
            compute,
            model.types,
            model.columns,
            owner=model.owner,
            version=self._git("log", "-1", "--format=%h", "--", str(file)),
            sql=query,
        )

    def gate(self, branch: str, url: str, namespace: str, api_key: str = "") -> Verdict:
        """Run `headwater gate` on a branch, as a CI machine does.

        Args:
            branch: The branch of the pull request.
            url: The address of the API.
            namespace: The namespace of the datasets.
            api_key: The key for the API, if it needs one.
        """
        self._reports.mkdir(exist_ok=True)
        comment = self._reports / COMMENT_FILE
        comment.unlink(missing_ok=True)
        self._git("checkout", "-q", branch)
        try:
            ended = subprocess.run(
                [
                    *(sys.executable, "-m", "headwater", "gate", "--json"),
                    *("--base", MAIN, "--repository", str(self._folder)),
                    *("--url", url, "--namespace", namespace, "--markdown", str(comment)),
                ],
                env=_environment(HEADWATER_API_KEY=api_key),
                capture_output=True,
                text=True,
            )
        finally:
            self._git("checkout", "-q", MAIN)
        if not ended.stdout:
            raise ServerError(f"the gate ended with {ended.returncode}: {ended.stderr[-500:]}")
        text = comment.read_text(encoding="utf-8")
        return Verdict(ended.returncode, json.loads(ended.stdout), text)

    def _commit(self, message: str, models: Mapping[str, str]) -> None:
        for name, query in models.items():
            file = self._folder / "models" / f"{name}.sql"
            file.parent.mkdir(exist_ok=True)
            file.write_text(query, encoding="utf-8")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", message)

    def _git(self, *arguments: str) -> str:
        # Hooks, signatures and names of the user's own configuration have no say here.
        ended = subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", *arguments],
            cwd=self._folder,
            env=_environment(),
            capture_output=True,
            text=True,
        )
        if ended.returncode:
            raise ServerError(f"git {arguments[0]} failed: {ended.stderr.strip()[-500:]}")
        return ended.stdout.strip()


def _environment(**more: str) -> dict[str, str]:
    names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    identity = {f"GIT_{name}": _IDENTITY for name in names}
    # Reports of a CI machine are those of its own pull request.
    inherited = {name: value for name, value in os.environ.items() if not _is_of_ci(name)}
    return {**inherited, **identity, "GIT_CONFIG_GLOBAL": os.devnull, **more}


def _is_of_ci(name: str) -> bool:
    return name.startswith(("GITHUB_", "GIT_"))


def render(query: str) -> str:
    """Return the SQL of a model with the names of its tables."""
    return _SOURCE.sub(r"\1", _REF.sub(r"\1", query)).strip()


def run_query(query: str, tables: Mapping[str, Rows]) -> Rows:
    """Return the rows of a query on tables. Raise sqlite3.Error if it fails."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    try:
        for name, rows in tables.items():
            _load(connection, name, rows)
        return [dict(row) for row in connection.execute(query)]
    finally:
        connection.close()


def _load(connection: sqlite3.Connection, name: str, rows: Rows) -> None:
    columns = list(rows[0])
    names = ", ".join(f'"{column}"' for column in columns)
    connection.execute(f'create table "{name}" ({names})')
    marks = ", ".join(f":{column}" for column in columns)
    connection.executemany(f'insert into "{name}" values ({marks})', rows)
