"""The target folder and the profile of a dbt project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headwater.errors import QueryError
from headwater.importers.dbt.artifacts import read_artifacts
from headwater.importers.dbt.locate import ProfileOptions, find_namespace, target_folder
from headwater.importers.report import ImportReport
from tests.importers.dbt.artifact_builders import node, write_artifacts
from tests.test_bounded_yaml import merge_bomb


def profiles(folder: Path, *hosts: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    outputs = ", ".join(f"{host}: {{host: {host}, port: 5432}}" for host in hosts)
    folder.joinpath("profiles.yml").write_text(
        f"shop: {{target: {hosts[0]}, outputs: {{{outputs}}}}}\nother: {{outputs: {{}}}}\n"
    )


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project").mkdir()
    (tmp_path / "project/dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    return write_artifacts(tmp_path / "project/target", node("model.shop.stg"), results=[])


def namespace(
    target: Path, options: ProfileOptions | None = None, environment: dict[str, str] | None = None
) -> str:
    artifacts = read_artifacts(target, ImportReport())
    return find_namespace(artifacts, target, options or ProfileOptions(), environment or {})


def test_the_folder_may_be_that_of_the_project_or_the_manifest(target: Path) -> None:
    for path in (target, target.parent, target / "manifest.json"):
        assert target_folder(path) == target


def test_the_places_of_a_profile_in_their_order(target: Path, tmp_path: Path) -> None:
    profiles(tmp_path / "home/.dbt", "home")
    assert namespace(target) == "postgres://home:5432"
    profiles(target.parent, "project")
    assert namespace(target) == "postgres://project:5432"
    profiles(tmp_path / "variable", "variable")
    environment = {"DBT_PROFILES_DIR": str(tmp_path / "variable")}
    assert namespace(target, environment=environment) == "postgres://variable:5432"
    profiles(tmp_path / "option", "option", "prod")
    options = ProfileOptions(str(tmp_path / "option"))
    assert namespace(target, options, environment) == "postgres://option:5432"
    options = ProfileOptions(str(tmp_path / "option"), target="prod")
    assert namespace(target, options) == "postgres://prod:5432"


def test_no_profile_is_found(target: Path, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=r"no profiles.yml was found") as refused:
        namespace(target)
    assert "--namespace" in refused.value.hint
    with pytest.raises(QueryError, match=r"has no profiles\.yml"):
        namespace(target, ProfileOptions(str(tmp_path / "none")))


def test_bigquery_needs_no_profile(tmp_path: Path) -> None:
    assert namespace(write_artifacts(tmp_path, adapter="bigquery")) == "bigquery"


@pytest.mark.timeout(30)
def test_a_project_whose_aliases_stand_for_millions_of_values_names_no_profile(
    target: Path,
) -> None:
    (target.parent / "dbt_project.yml").write_text(f"profile: shop\n{merge_bomb(12)}")
    profiles(target.parent, "project")
    with pytest.raises(QueryError, match="has several profiles"):
        namespace(target)


@pytest.mark.parametrize(
    "name",
    ["HEADWATER_API_KEY", "HEADWATER_HOME", "DBT_ENV_SECRET_HOST", "PGPASSWORD", "AWS_ACCESS_KEY"],
)
def test_no_secret_becomes_part_of_a_name(target: Path, name: str) -> None:
    (target.parent / "profiles.yml").write_text(
        f"shop: {{outputs: {{default: {{host: \"{{{{ env_var('{name}', 'db') }}}}\"}}}}}}\n"
    )
    assert namespace(target) == "postgres://db:5432"
    with pytest.raises(QueryError, match=f"{name}, which may be a secret") as refused:
        namespace(target, environment={name: "hunter2"})
    assert "hunter2" not in str(vars(refused.value))


def test_other_variables_become_part_of_a_name(target: Path) -> None:
    (target.parent / "profiles.yml").write_text(
        'shop: {outputs: {default: {host: "{{ env_var(\'DBT_HOST\') }}", pass: "{{ 1/0 }}"}}}\n'
    )
    assert namespace(target, environment={"DBT_HOST": "w"}) == "postgres://w:5432"


@pytest.mark.timeout(30)
def test_a_project_that_is_a_pipe_names_no_profile(target: Path) -> None:
    (target.parent / "dbt_project.yml").unlink()
    os.mkfifo(target.parent / "dbt_project.yml")
    (target.parent / "profiles.yml").write_text("shop: {outputs: {default: {host: db}}}")
    assert namespace(target) == "postgres://db:5432"
