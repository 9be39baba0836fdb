"""Imports as users and CI run them: processes, and the real API."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.canonical import canonical
from tests.end_to_end.conftest import Running
from tests.importers.dbt.artifact_builders import node, result, source, write_artifacts

pytestmark = pytest.mark.neo4j

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples/github-import"
DOCS = REPOSITORY / "docs/how-to/import.md"
WAREHOUSE = "postgres://imported:5432"
UPSTREAM = """MATCH (a:Dataset)-[:FEEDS {current: true}]->(j:Job)-[:PRODUCED {current: true}]->
(b:Dataset {namespace: $namespace, name: $name}) RETURN DISTINCT a.name AS name ORDER BY name"""
SCRIPT = """create table raw.orders (id int, customer_id int, amount numeric);
create temp table paid as select customer_id, amount from raw.orders where amount > 0;
insert into mart.revenue (customer_id, revenue)
select c.id, sum(p.amount) from paid p join raw.customers c on c.id = p.customer_id group by c.id;
select broken from from;
create or replace view mart.top as select * from mart.revenue order by revenue desc limit 10;
"""


def action() -> dict[str, Any]:
    return dict(yaml.safe_load((EXAMPLE / "action.yml").read_text()))


def run_action(folder: Path, url: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the action as GitHub does, with its inputs as variables."""
    step = next(one for one in action()["runs"]["steps"] if one["id"] == "import")
    values = {name: str(one.get("default", "")) for name, one in action()["inputs"].items()}
    values |= {"url": url} | {name.replace("_", "-"): text for name, text in inputs.items()}
    variables = {
        name: values[re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)[1]]  # type: ignore[index]
        for name, text in step["env"].items()
    }
    assert set(values) - {"version"} == {
        text.split("inputs.")[1].removesuffix(" }}") for text in step["env"].values()
    }
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def upstream(running: Running, name: str, namespace: str = WAREHOUSE) -> list[str]:
    running.wait_folded()
    rows = running.database.ask(UPSTREAM, {"name": name, "namespace": namespace})
    return [row["name"] for row in rows]


def test_scripts_are_imported_on_merge_and_again(running: Running, tmp_path: Path) -> None:
    (tmp_path / "etl").mkdir()
    (tmp_path / "etl/orders.sql").write_text(SCRIPT)
    options = {"dialect": "postgres", "namespace": WAREHOUSE, "database": "shop"}
    done = run_action(tmp_path, running.url, sql="etl/\n", **options)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() in DOCS.read_text()
    assert upstream(running, "shop.mart.revenue") == ["shop.raw.customers", "shop.raw.orders"]
    assert upstream(running, "shop.mart.top") == ["shop.mart.revenue"]
    before = canonical(running.database)
    assert run_action(tmp_path, running.url, sql="etl/\n", **options).returncode == 0
    running.wait_folded()
    assert canonical(running.database) == before


def test_a_changed_script_replaces_its_declaration(running: Running, tmp_path: Path) -> None:
    options = {"dialect": "postgres", "namespace": WAREHOUSE, "database": "shop"}
    script = tmp_path / "changed.sql"
    for number, table in enumerate(("first", "second")):
        script.write_text(f"insert into mart.changed select a from raw.{table};")
        os.utime(script, (1_790_000_000 + number, 1_790_000_000 + number))
        assert run_action(tmp_path, running.url, sql="changed.sql", **options).returncode == 0
    assert upstream(running, "shop.mart.changed") == ["shop.raw.second"]


def test_dbt_and_strictness(running: Running, tmp_path: Path) -> None:
    model = node("model.shop.stg", "source.shop.raw.o", sql="select id from shop.raw.o")
    write_artifacts(
        tmp_path / "target", model, source("o"), results=[result("model.shop.stg")], command="build"
    )
    namespace = "postgres://imported-dbt:5432"
    done = run_action(tmp_path, running.url, dbt_target="target", namespace=namespace)
    assert (done.returncode, done.stderr) == (0, "")
    assert "models 1" in done.stdout
    assert upstream(running, "shop.main.stg", namespace) == ["shop.raw.o"]
    (tmp_path / "bad.sql").write_text("selec 1;\ninsert into t select a from s;")
    strict = run_action(tmp_path, running.url, sql="bad.sql", strict="true")
    assert (strict.returncode, "bad.sql:1" in strict.stdout) == (4, True)
    neither = run_action(tmp_path, running.url)
    assert (neither.returncode, "set dbt-target or sql" in neither.stdout) == (2, True)


def test_every_action_of_the_workflow_is_pinned_and_gets_known_inputs() -> None:
    workflow = yaml.safe_load((EXAMPLE / "headwater-import.yml").read_text())
    gate = yaml.safe_load((EXAMPLE.parent / "github-action/action.yml").read_text())
    known = {"headwater-import": set(action()["inputs"]), "headwater-gate": set(gate["inputs"])}
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            name = step["uses"]
            if name.startswith("./"):
                assert set(step["with"]) <= known[name.rpartition("/")[2]]
            else:
                assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)
    for entry in action()["inputs"].values():
        assert entry["description"].strip()
