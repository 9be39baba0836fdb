"""Attempts to evade the namespaces of a key, on the real graph, each with the text that must not be
returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError
from headwater.impact.assess import assess
from headwater.impact.changes import parse_changes
from headwater.lineage.history_pages import read_history_pages
from headwater.lineage.nodes import read_nodes, resolve_urn
from headwater.lineage.pagination import PageRequest
from headwater.lineage.questions import catalog as catalogue
from headwater.lineage.questions.failures import failed_runs
from headwater.lineage.questions.search import search
from headwater.lineage.view import GraphView
from headwater.rest.marquez.events import EventsParams, events_of
from headwater.schema import headwater_facets as native
from headwater.schema.urns import dataset_urn, job_urn, run_urn
from headwater.schema.visibility import Visibility
from tests.lineage_requests import lineage
from tests.run_builders import FACET, at, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

# Of two jobs of one run the one with the greater name gives the run its name; the attacker's name
# is smaller.
OWN, THEIRS = "own", "a-secret"
RUN = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def view(view: GraphView) -> GraphView:
    return view.visible_to(Visibility((OWN,)))


def failed(namespace: str, job: str) -> list[dict[str, Any]]:
    return native.run_events(
        RUN,
        pipeline_name=job,
        namespace=namespace,
        status="FAIL",
        started_at=at(1),
        finished_at=at(2),
        error=f"of {namespace}",
        inputs=[{"namespace": THEIRS, "name": "table"}],
    )


def listed(view: GraphView) -> dict[str, Any]:
    """Return every list that may contain a run."""
    job = job_urn(OWN, "job")
    return {
        "node": read_nodes(view, [run_urn(RUN)]),
        "failed": failed_runs(view).runs,
        "of the job": read_history_pages(view, "read/nodes/job_runs", [job], PageRequest(5))[
            job
        ].entries,
        "counted": catalogue.runs_of_job(view, job, skip=0, limit=5),
    }


def test_claiming_a_known_run_id_does_not_show_the_run(database: Database, view: GraphView) -> None:
    write_events(database, failed(OWN, "job"))
    assert all(listed(view).values())
    write_events(database, failed(THEIRS, "secret"))
    assert listed(view) == {
        "node": {},
        "failed": [],
        "of the job": [],
        "counted": catalogue.UrnPage([], 0),
    }


def test_naming_a_known_run_id_as_parent_does_not_show_the_run(
    database: Database, view: GraphView
) -> None:
    write_events(database, failed(THEIRS, "secret"))
    [event] = native.run_events("child", pipeline_name="job", namespace=OWN, finished_at=at(3))
    event["run"]["facets"]["parent"] = {
        **FACET,
        "run": {"runId": RUN},
        "job": {"namespace": OWN, "name": "zz"},
    }
    write_events(database, [event])
    assert read_nodes(view, [run_urn(RUN)]) == {}


def test_a_page_of_answers_ends_at_a_visible_answer(database: Database, view: GraphView) -> None:
    """The last cursor of the page holds the urn and the time of its last entry."""
    own, theirs = ({"namespace": namespace, "name": "table"} for namespace in (OWN, THEIRS))
    write_events(
        database,
        [
            native.answer_event("ours", cites=[own], generated_at=at(3)),
            native.answer_event("secret", cites=[own, theirs], generated_at=at(2)),
            native.answer_event("oldest", cites=[own], generated_at=at(1)),
        ],
    )
    table = dataset_urn(OWN, "table")
    first = read_history_pages(view, "read/nodes/dataset_answers", [table], PageRequest(1))[table]
    assert (first.entries, first.has_next) == (["answer:ours"], True)
    rest = PageRequest(1, first.cursors[-1])
    second = read_history_pages(view, "read/nodes/dataset_answers", [table], rest)[table]
    assert (second.entries, second.has_next) == (["answer:oldest"], False)


def test_search_scores_do_not_depend_on_hidden_nodes(database: Database, view: GraphView) -> None:
    """Lucene scores by the number of nodes in the whole index that contain a word, and by their
    length.
    """
    write_events(
        database,
        [native.source_event(name, namespace=OWN) for name in ("customers", "orders of customers")],
    )
    before = search(view, "customers")
    write_events(
        database,
        [native.source_event(f"customers {number}", namespace=THEIRS) for number in range(9)],
    )
    assert search(view, "customers") == before
    assert [hit.node.name for hit in before.page.entries] == ["customers", "orders of customers"]
    assert search(GraphView(database), "customers").count == 11


def test_former_inputs_of_a_job_are_hidden_like_others(database: Database, view: GraphView) -> None:
    """The dataset is no input of the job any more, but column lineage still links it to the job's
    outputs.
    """
    for minute, source in ((1, (THEIRS, "secret")), (3, (OWN, "plain"))):
        field = {"namespace": source[0], "name": source[1], "field": "id"}
        events = native.run_events(
            f"run {minute}",
            pipeline_name="job",
            namespace=OWN,
            started_at=at(minute),
            finished_at=at(minute + 1),
            inputs=[{"namespace": source[0], "name": source[1]}],
            outputs=[{"namespace": OWN, "name": "table"}],
        )
        for event in events:
            event["outputs"][0]["facets"] = {
                "columnLineage": {**FACET, "fields": {"id": {"inputFields": [field]}}}
            }
        write_events(database, events)
    for direction in ("UPSTREAM", "BOTH"):
        found = lineage(view, dataset_urn(OWN, "table"), direction=direction)
        text = repr(found)
        assert dataset_urn(OWN, "plain") in text
        assert THEIRS not in text


def test_a_hidden_alias_of_an_own_dataset_is_not_found(database: Database, view: GraphView) -> None:
    """Otherwise a caller who guesses the alias could confirm it."""
    names = {
        name: {"namespace": namespace, "name": name}
        for name, namespace in (("known", OWN), ("secret", THEIRS))
    }
    write_events(
        database,
        [native.symlinks_event({"namespace": OWN, "name": "table"}, same=list(names.values()))],
    )
    table = dataset_urn(OWN, "table")
    assert (
        resolve_urn(view, dataset_urn(OWN, "known"))
        == table
        == resolve_urn(GraphView(database), dataset_urn(THEIRS, "secret"))
    )
    for guess in ("secret", "guess"):
        with pytest.raises(NotFoundError, match=f"there is no dataset 'dataset:a-secret:{guess}'"):
            lineage(view, dataset_urn(THEIRS, guess))


def test_files_of_the_caller_do_not_confirm_a_hidden_name(
    database: Database, view: GraphView
) -> None:
    """The files downstream are hidden: a table, a job by the path of its code, and a table that it
    makes.
    """
    [begun, _] = native.run_events(
        "run",
        pipeline_name="job",
        namespace=THEIRS,
        started_at=at(1),
        finished_at=at(2),
        inputs=[{"namespace": OWN, "name": "table"}],
        outputs=[{"namespace": THEIRS, "name": "secret"}],
    )
    begun["job"]["facets"] = {
        "sourceCodeLocation": {**FACET, "type": "git", "url": "u", "path": "secret/job.sql"}
    }
    write_events(database, [begun, _])
    changes = parse_changes([{"type": "table_drop", "urn": dataset_urn(OWN, "table")}])

    def request(view: GraphView, word: str) -> list[str]:
        files = {
            "reads.sql": f"SELECT * FROM {word}",
            f"{word}/job.sql": "SELECT * FROM table_two",
            "makes.sql": f"CREATE TABLE {word} AS SELECT * FROM table_two",
        }
        found = assess(view, changes, files=files)
        assert not found.truncated
        return [one.name.replace(word, "*") for one in found.affected]

    assert request(view, "secret") == request(view, "guess") == []
    assert request(GraphView(database), "secret") != request(GraphView(database), "guess")


def test_an_answer_is_in_the_event_list_with_visible_citations() -> None:
    """The text of the answer may reveal all citations, and its own namespace is shared by all
    answers.
    """
    own, theirs = ({"namespace": namespace, "name": "table"} for namespace in (OWN, THEIRS))
    cited: dict[str, Any] = {
        "ours": [own, own],
        "of both": [own, theirs],
        "of nothing": [],
        "of an answer": [own, {"answerId": "of both"}],
        "odd": [own, {"namespace": 7, "name": "table"}],
        "no list": 7,
    }

    class Log:
        def count(self) -> int:
            return len(cited)

        def bodies(self, *, newest_first: bool) -> Iterator[tuple[int, bytes]]:  # noqa: ARG002
            for number in range(len(cited)):
                yield number, self.body(number)

        def body(self, number: int) -> bytes:
            name, cites = list(cited.items())[number]
            event = native.answer_event(name, cites=[], content="secret", generated_at=at(-number))
            event["dataset"]["facets"][native.ANSWER_FACET]["cites"] = cites
            event["run"] = {"runId": RUN}
            event["job"] = {"namespace": OWN, "name": "job"}
            return json.dumps(event).encode()

    def listed(visibility: Visibility) -> list[str]:
        request: Any = SimpleNamespace(
            view=SimpleNamespace(visibility=visibility), params=EventsParams()
        )
        return [event["dataset"]["name"] for event in events_of(Log())(request).events]

    assert listed(Visibility((OWN, native.ANSWER_NAMESPACE))) == ["ours"]
    assert listed(Visibility((OWN,))) == []
    assert listed(Visibility()) == list(cited)


def test_an_event_nested_without_end_does_not_break_the_list_of_events() -> None:
    nested = b"[" * 900 + b"]" * 900
    event = b'{"run": {"runId": "r"}, "job": {"namespace": "%s", "name": "%s"}, "note": %s}'
    bodies = [
        event % (b"a-secret", b"job", nested),
        event % (b"own", b"deep", nested),
        event % (b"own", b"job", b"1"),
    ]

    class Log:
        def count(self) -> int:
            return 3

        def bodies(self, *, newest_first: bool) -> Iterator[tuple[int, bytes]]:  # noqa: ARG002
            yield from enumerate(bodies)

        def body(self, number: int) -> bytes:
            return bodies[number]

    request: Any = SimpleNamespace(
        view=SimpleNamespace(visibility=Visibility((OWN,))), params=EventsParams()
    )
    assert [event["job"]["name"] for event in events_of(Log())(request).events] == ["job"]
