"""The Python client against a real API that requires keys: typed answers, pages, names, errors."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headwater import Client
from headwater.client.pages import PAGE_SIZE
from headwater.errors import (
    AmbiguousError,
    ForbiddenError,
    HeadwaterError,
    NotFoundError,
    QueryError,
    SettingsError,
    UnauthorizedError,
    UnavailableError,
)
from tests.event_builders import dataset, run_event
from tests.run_builders import at, ds, job, run_of, write_events
from tests.spark_hooks.servers import closed_port

pytestmark = pytest.mark.neo4j


@pytest.fixture
def client(api: str, keys: dict[str, str]) -> Client:
    return Client(api, api_key=keys["all"])


def test_trace(client: Client) -> None:
    found = client.trace("kpi")
    assert found.answer.answer_id == "kpi"
    assert [(one.name, one.status, one.complete) for one in found.artifacts] == [
        ("d", "COMPLETE", True),
        ("a", "COMPLETE", True),
    ]
    assert [one.run_id for one in found.runs] == ["mart-1", "load-1"]
    assert [one.name for one in found.sources] == ["raw"]
    assert found.runs[1].started_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert repr(found).startswith("<Trace of kpi: 1 sources, 2 runs, 2 artifacts")
    nodes, edges = found.to_pandas()
    assert list(nodes["name"]) == ["kpi", "d", "a", "mart", "load", "raw"]
    assert list(nodes.columns) == ["kind", "namespace", "name", "status", "at", "row_count", "urn"]
    assert len(edges) == len(found.edges) == 5
    drawn = found._repr_html_()
    assert "<svg" in drawn
    assert "kpi" in drawn


def test_lineage(client: Client) -> None:
    found = client.lineage("d", direction="upstream", depth=1)
    assert {node.urn: node.distance for node in found.nodes} == {
        ds("d"): 0,
        job("mart"): 1,
        ds("a"): 1,
    }
    assert {(edge.source, edge.target) for edge in found.edges} == {
        (ds("a"), job("mart")),
        (job("mart"), ds("d")),
    }
    assert found.truncated
    frames = found.to_pandas()
    assert list(frames.nodes.columns) == ["urn", "kind", "name", "namespace", "distance"]
    assert list(frames.edges.columns) == ["source", "target", "type"]
    assert "<svg" in found._repr_html_()
    assert client.lineage(client.dataset("d"), job("load")).starts == (ds("d"), job("load"))
    since_then = client.lineage("d", between=(at(5), datetime(2026, 1, 1, 1, tzinfo=UTC)))
    assert since_then.difference is not None
    filtered = client.lineage("d", namespaces=["nothing"], since=timedelta(days=36500))
    assert [node.urn for node in filtered.nodes] == [ds("d"), job("mart")]


def test_lists_are_read_page_by_page(client: Client, graph: object) -> None:
    del graph
    runs = list(client.runs())
    assert [one.run_id for one in client.runs(limit=2)] == [one.run_id for one in runs[:2]]
    assert client.runs(limit=1).total_count == len(runs) < PAGE_SIZE
    assert [one.run_id for one in client.runs(status="fail")] == ["load-2"]
    assert {one.name for one in client.datasets(namespace="db")} >= {"raw", "a", "d"}
    assert [one.name for one in client.jobs(owner="team:mart")] == ["mart"]
    assert [one.answer_id for one in client.answers()] == ["kpi"]
    assert list(client.datasets(tag="none")) == []
    assert [one.urn for one in client.search("load", kind="job")] == [job("load")]
    frame = client.runs(namespace="etl").to_pandas()
    assert set(frame["status"]) == {"COMPLETE", "FAIL"}
    assert client.datasets(tag="none").to_pandas().columns[0] == "urn"
    assert "<td>mart</td>" in client.jobs()._repr_html_()
    assert (
        repr(client.runs(status="fail"))
        == "<runs, status FAIL; iterate over it, or call to_pandas()>"
    )


def test_a_page_is_followed_by_the_next(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [one.urn for one in client.datasets()]
    monkeypatch.setattr("headwater.client.pages.PAGE_SIZE", 2)
    assert [one.urn for one in client.datasets()] == expected
    assert [one.urn for one in client.datasets(limit=3)] == expected[:3]


def test_failures_and_causes(client: Client) -> None:
    (failed,) = client.failed_runs(since=at(1), namespace="etl")
    assert (failed.run_id, failed.error) == ("load-2", "=disk\nfull")
    assert failed.failed_at == datetime(2026, 1, 1, 0, 21, tzinfo=UTC)
    assert ds("a") in [str(one) for one in failed.stale.datasets]
    frame = client.failed_runs().to_pandas()
    assert frame.loc[0, "stale"]["datasets"] == [one.urn for one in failed.stale.datasets]
    causes = client.root_cause("kpi")
    assert causes.starts
    assert causes.to_pandas().shape[0] == len(causes.candidates)
    assert client.root_cause(failed).candidates


def test_details(client: Client) -> None:
    found = client.dataset("a")
    assert [field.name for field in found.fields] == ["total"]
    assert [one.urn for one in found.produced_by] == [job("load")]
    assert {one.run_id for one in found.versions} == {"load-1", "load-2"}
    assert client.job("mart").sql == "select total from a"
    assert [one.urn for one in client.run("mart-1").inputs] == [ds("a")]
    assert client.run("load-2").status == "FAIL"
    assert client.answer("kpi").citations[0].urn.startswith("artifact:db:d:")
    assert client.resolve("mart") == job("mart")
    with pytest.raises(QueryError, match="is the urn of a job"):
        client.dataset(job("mart"))
    with pytest.raises(NotFoundError):
        client.run("run:none")


def test_freshness_quality_impact_and_cypher(client: Client) -> None:
    verdict = client.freshness("d", within=timedelta(days=36500))
    assert (verdict.dataset, verdict.state) == (ds("d"), "UNKNOWN")
    assert verdict.to_pandas().shape[0] == len(verdict.sources)
    assert client.quality("a").failed == 0
    report = client.impact("a", {"type": "column_drop", "column": "total"})
    assert report.risk_level == "high"
    assert [one.name for one in report.affected_assets if one.severity == "breaking"] == ["mart"]
    assert report.to_pandas().shape[0] == report.affected_count
    table = client.cypher("MATCH (j:Job) RETURN j.name AS name ORDER BY name")
    assert table.columns == ("name",)
    assert {"load", "mart"} <= set(table.to_pandas()["name"])
    assert client.audit("failed_runs").rows
    assert client.audits().rows
    assert client.status().ready


def test_errors_have_hints(api: str, keys: dict[str, str], client: Client) -> None:
    def refused(kind: type[HeadwaterError], key: str = "") -> HeadwaterError:
        with pytest.raises(kind) as error:
            Client(api, api_key=key).trace("kpi")
        assert error.value.hint
        assert not key or key not in str(error.value)
        return error.value

    refused(UnauthorizedError)
    refused(UnauthorizedError, "hw_wrong_key")
    refused(NotFoundError, keys["other"])
    with pytest.raises(ForbiddenError):
        Client(api, api_key=keys["read"]).cypher("RETURN 1 AS n")
    with pytest.raises(QueryError, match="sideways"):
        client.lineage("d", direction="sideways")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="since 'soon' is no time"):
        client.runs(since="soon")
    with pytest.raises(QueryError, match="needs a node"):
        client.lineage()
    with pytest.raises(QueryError, match="timeout_seconds"):
        Client(api, timeout_seconds=0)
    with pytest.raises(SettingsError, match="malformed"):
        Client(api, api_key="two words")


def test_a_name_of_several_nodes_is_refused_with_their_urns(graph: object, client: Client) -> None:
    write_events(
        graph,  # type: ignore[arg-type]
        [run_event("p-1", job="p/pair", outputs=[dataset("x/pair"), dataset("y/pair")])],
    )
    with pytest.raises(AmbiguousError, match="x/pair"):
        client.lineage("pair")


def test_the_address_is_found_as_the_command_line_finds_it(
    api: str, keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_URL", api)
    monkeypatch.setenv("HEADWATER_API_KEY", keys["read"])
    assert Client().trace("kpi").answer.answer_id == "kpi"
    assert keys["read"] not in repr(Client())
    with pytest.raises(UnavailableError, match="nothing runs in"):
        Client(home=tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "headwater").mkdir()
    path = tmp_path / "headwater" / "config.toml"
    path.write_text(f'[profiles.lake]\nurl = "{api}"\napi_key = "{keys["read"]}"\n')
    path.chmod(0o600)
    monkeypatch.delenv("HEADWATER_API_KEY")
    assert Client(profile="lake").run(run_of("mart-1")).run_id == "mart-1"
    with pytest.raises(UnauthorizedError):
        Client(profile="lake", api_key="").trace("kpi")


def test_a_client_without_a_server_says_so() -> None:
    with pytest.raises(UnavailableError, match="does not answer"):
        Client(closed_port(), timeout_seconds=1).trace("kpi")


USER_SCRIPT = """
from headwater import Client

client = Client("http://127.0.0.1:8000", timeout_seconds=5)
names: list[str | None] = [run.pipeline_name for run in client.runs(status="fail", since="2h")]
rows: int | None = client.trace("kpi").artifacts[0].row_count
owners: tuple[str, ...] = client.dataset("d").owners
risk: str = client.impact("d", {"type": "table_drop"}).risk_level
nodes, edges = client.lineage("d", direction="upstream").to_pandas()
"""
WRONG_SCRIPT = 'from headwater import Client\n\nClient().lineage("d", direction="sideways")\n'


def test_the_types_hold_in_a_script_of_a_user(tmp_path: Path) -> None:
    def check(text: str) -> str:
        script = tmp_path / "script.py"
        script.write_text(text)
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(script)]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return ended.stdout

    assert "Success" in check(USER_SCRIPT)
    assert "\"Literal['sideways']\"" in check(WRONG_SCRIPT)
