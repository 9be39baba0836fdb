"""Questions of the Python client about the estate and about repair, against a real API with keys.

The graph: load: raw -> a and mart: a -> d, complete; then load fails, and mart reads a again. The
answer kpi cites d.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater import Client
from headwater.cli import app
from headwater.client.estate_results import Owner
from headwater.errors import QueryError
from tests.run_builders import ds, job, run_of, version

pytestmark = pytest.mark.neo4j

DAYS = 3_650


@pytest.fixture
def client(api: str, keys: dict[str, str]) -> Client:
    return Client(api, api_key=keys["all"])


def test_usage_names_the_readers_and_the_answers(client: Client) -> None:
    found = client.usage("a", days=DAYS)
    (reader,) = found.consumers
    assert (found.dataset, str(reader.job), reader.runs) == (ds("a"), job("mart"), 2)
    assert reader.owners == ("team:mart",)
    assert reader.last_read_at is not None
    assert [(one.owner, one.jobs) for one in found.chargeback] == [("team:mart", 1)]
    assert found.answers == ()
    assert [str(one) for one in client.usage("d", days=DAYS).answers] == ["answer:kpi"]
    assert list(found.to_pandas()["job"]) == [job("mart")]
    assert repr(found) == f"<Usage of {ds('a')}: 1 jobs, 0 answers>"
    assert job("mart") in found._repr_html_()


def test_usage_is_read_page_by_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [client.usage("a", days=DAYS).consumers, client.coverage().namespaces]
    monkeypatch.setattr("headwater.client.estate._PAGE_SIZE", 1)
    assert [client.usage("a", days=DAYS).consumers, client.coverage().namespaces] == expected


def test_owners_and_unused_datasets(client: Client) -> None:
    assert list(client.owners()) == [Owner(name="team:mart", datasets=0, jobs=1)]
    assert list(client.owners().to_pandas()["name"]) == ["team:mart"]
    # All reads are of 1 January 2026.
    unused = client.unused(days=1)
    assert {str(one.dataset) for one in unused} >= {ds("raw"), ds("a"), ds("d")}
    assert {str(one.dataset): one.last_read_at for one in unused}[ds("d")] is None
    assert len(list(client.unused(days=1, limit=2))) == 2
    assert list(client.unused(days=1, namespace="none")) == []
    assert list(unused.to_pandas().columns) == ["dataset", "bytes", "last_read_at"]


def test_coverage_counts_by_namespace(client: Client) -> None:
    found = client.coverage(days=DAYS)
    assert set(found.namespaces) == {"db", "etl"}
    # raw has no producer; nothing but the answer uses d.
    assert (found.namespaces["db"].datasets, found.namespaces["db"].produced) == (3, 2)
    assert (found.total.jobs, found.total.owned_jobs) == (2, 1)
    assert found.total.shares.lineage == 1.0
    assert (found.certified_paths.datasets, found.certified_paths.integrity) == (0, None)
    frame = found.to_pandas()
    assert dict(zip(frame["namespace"], frame["datasets"], strict=True)) == {"db": 3, "etl": 0}
    assert repr(found) == "<Coverage: 100.0% in lineage, 2 namespaces>"


def test_a_replay_plan_has_numbered_steps(client: Client) -> None:
    plan = client.replay_plan(run_of("load-1"))
    # Runs of one job are replaced one after the other, in the order of their starts.
    assert [(one.step, str(one.run)) for one in plan.reruns] == [
        (1, run_of("load-1")),
        (2, run_of("mart-2")),
        (3, run_of("mart-1")),
    ]
    (output,) = plan.reruns[0].outputs
    assert (str(output.dataset), str(output.version)) == (ds("a"), version("a", "load-1"))
    assert [str(one) for one in plan.reruns[1].inputs[0].wait_for] == [run_of("load-1")]
    assert [str(one) for one in plan.answers] == ["answer:kpi"]
    assert list(plan.to_pandas()["step"]) == [1, 2, 3]
    since = client.replay_plan("a", since=datetime(2026, 1, 1, tzinfo=UTC))
    assert run_of("load-1") in [str(one) for one in since.corrupt_runs]
    with pytest.raises(QueryError, match="since is required for the dataset"):
        client.replay_plan("a")


def test_evidence_is_sealed_and_can_be_verified(client: Client, tmp_path: Path) -> None:
    at = datetime(2026, 2, 1, tzinfo=UTC)
    pack = client.evidence("d", at=at)
    assert pack == client.evidence("d", at=at)
    assert len(pack.hash) == 64
    file = pack.write(tmp_path / "d.json")
    words = ["evidence", "--verify", str(file), "--hash", pack.hash]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    changed = json.loads(file.read_text())
    changed["pack"]["extra"] = []
    file.write_text(json.dumps(changed))
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 1
    with pytest.raises(QueryError, match="time zone"):
        client.evidence("d", at=datetime(2026, 2, 1))


def test_an_answer_shows_its_url_and_owners(client: Client) -> None:
    found = client.answer("kpi")
    assert (found.url, found.owners) == ("https://bi.example.com/kpi", ("team:board",))
    assert client.trace("kpi").answer.owners == ("team:board",)
    frame = client.answers().to_pandas()
    assert list(frame["url"]) == ["https://bi.example.com/kpi"]
    assert list(frame["owners"]) == [["team:board"]]
