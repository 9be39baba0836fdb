"""Run every statement that docs/reference/cypher.md shows on the graph of a demo, and keep the
answers.

    headwater demo --home HOME && python -m scripts.audit_outputs HOME && make docs

The answers go to docs/reference/cypher/outputs. In statements and answers, /demo stands for the
folder of that demo.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from headwater.cli import render as show
from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Query
from headwater.cypher.sandbox.run import StatementResult, run_audit, run_text
from headwater.health.findings.detector import Detector
from headwater.local.neo4j import LocalNeo4j
from scripts.catalogue import OUTPUTS, audits, bare, taught

DEMO = "/demo"
ROWS_SHOWN = 6
# The run whose evidence is shown.
RUN = """
MATCH (d:Dataset {name: $name})<-[:VERSION_OF]-(v:Artifact {complete: true})<-[:PRODUCED]-(r)
RETURN r.runId AS id ORDER BY v.createdAt DESC LIMIT 1
"""


def main(home: Path) -> None:
    os.environ["COLUMNS"] = "1000"
    neo4j = LocalNeo4j(home, bolt_port=0)
    running = neo4j.start()
    database = Database(running.uri, running.user, running.password)
    try:
        Detector(database).full_pass()
        found = run_text(database, RUN, {"name": f"{home}/flights/marts/carrier_delays"})
        run_id = found.rows[0]["id"]
        OUTPUTS.mkdir(parents=True, exist_ok=True)
        for query in audits():
            _keep(bare(query), _audit(database, query, home, run_id))
        for number, text in enumerate(taught(), start=1):
            _keep(
                f"example_{number}",
                _table(run_text(database, text.replace(DEMO, str(home)), {}), home),
            )
    finally:
        database.close()
        neo4j.stop()


def _audit(database: Database, query: Query, home: Path, run_id: str) -> str:
    command = query.example.replace("=RUN", f"={run_id}")
    arguments = [
        word.replace(DEMO, str(home)) for word in shlex.split(command)[3:] if word != "--param"
    ]
    found = run_audit(database, query.name, dict(word.split("=", 1) for word in arguments))
    return f"$ {command}\n{_table(found, home)}"


def _table(found: StatementResult, home: Path) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        show.print_rows(
            found.columns, [_renamed(row, home) for row in found.rows[:ROWS_SHOWN]], as_json=False
        )
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    last = f"... of {len(found.rows)} rows" if len(found.rows) > ROWS_SHOWN else lines[-1]
    return "\n".join([*lines[:-1], last])


def _renamed(value: Any, home: Path) -> Any:
    """Replace the folder of this demo by /demo in a text."""
    if isinstance(value, str):
        return value.replace(str(home), DEMO)
    if isinstance(value, dict):
        return {key: _renamed(item, home) for key, item in value.items()}
    return [_renamed(item, home) for item in value] if isinstance(value, list) else value


def _keep(name: str, text: str) -> None:
    (OUTPUTS / f"{name}.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
