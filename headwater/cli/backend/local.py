"""Questions to the graph of a home, answered in this process for a caller who sees everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import cached_property
from typing import Any

from headwater.client.backend import Rows, data_of_answer, read_document
from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import StatementResult, run_audit, run_text
from headwater.graphql.in_process import InProcessSchema
from headwater.lineage.view import GraphView


class LocalBackend:
    """The questions of a command, answered by the Neo4j of a home or of the settings."""

    def __init__(self, connect: Callable[[], Database], home: str | None = None) -> None:
        """Use the graph that `connect` returns, as soon as a question needs it."""
        self._connect = connect
        self._home = home
        self._resources = ExitStack()

    @cached_property
    def _view(self) -> GraphView:
        database = self._connect()
        self._resources.callback(database.close)
        return GraphView(database)

    @cached_property
    def _schema(self) -> InProcessSchema:
        from headwater.cli.backend.home import settings_of
        from headwater.governance.policies.store import policy_store

        schema = InProcessSchema(self._view, policy_store(settings_of(self._home)))
        self._resources.callback(schema.close)
        return schema

    def close(self) -> None:
        """Close the connections."""
        self._resources.close()

    def status(self) -> dict[str, Any]:
        """Return what runs in the home: the API, Neo4j and the events."""
        from headwater import __version__
        from headwater.cli.backend.home import home_status

        at, checks = home_status(self._home)
        optional = ("api", "policies", "rollups")
        ready = all(check["ok"] for name, check in checks.items() if name not in optional)
        return {"at": at, "version": __version__, "ready": ready, "checks": checks}

    def ask(self, document: str, /, **variables: Any) -> dict[str, Any]:
        """Return the data of a document. Raises HeadwaterError."""
        return data_of_answer(self._schema.execute(read_document(document), variables))

    def count_waiting_events(self) -> int | None:
        """Return the number of events in the spool of the home that wait to be folded; None without
        a spool."""
        from headwater.cli.backend.home import count_waiting_events

        return count_waiting_events(self._home, self._view.database)

    def list_audits(self) -> list[dict[str, Any]]:
        """Return the audit queries."""
        from headwater.rest.cypher_api import describe_audits

        return describe_audits()

    def run_audit(self, name: str, parameters: Mapping[str, Any]) -> Rows:
        """Run an audit query."""
        return _rows(run_audit(self._view.database, name, parameters))

    def run_statement(self, text: str, parameters: Mapping[str, Any]) -> Rows:
        """Run a Cypher statement of the caller."""
        return _rows(run_text(self._view.database, text, parameters))

    def assess(
        self,
        urn: str,
        changes: Sequence[Mapping[str, Any]],
        *,
        files: Mapping[str, str],
        dialect: str,
        include_stale: bool,
    ) -> dict[str, Any]:
        """Return the impact of changes to a dataset or job."""
        from headwater.impact.assess import assess
        from headwater.impact.changes import parse_changes
        from headwater.impact.report import report_json

        report = assess(
            self._view,
            parse_changes([dict(change) for change in changes], urn),
            files=files,
            dialect=dialect,
            include_stale=include_stale,
        )
        return report_json(report)

    def evidence(self, urn: str, *, at: datetime, depth: int) -> dict[str, Any]:
        """Return a sealed evidence pack."""
        from headwater.evidence.digest import add_digest
        from headwater.evidence.pack import build_pack

        return add_digest(build_pack(self._view, urn, at=at, depth=depth))


def _rows(found: StatementResult) -> Rows:
    return Rows(found.columns, found.rows, found.truncated)
