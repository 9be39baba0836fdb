"""Every setting, command, route and question is described in docs/, and the generated pages are
current.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path

import msgspec
import pytest
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from typer.main import get_command

from headwater.cli import app
from headwater.errors import HeadwaterError
from headwater.server import create_app
from headwater.settings import Settings, load
from scripts.catalogue import DOCS, OUTPUTS, PAGES, all_commands, audits, bare, taught
from tests.repo.repository import ROOT, text, tracked

GUIDES = ("ARCHITECTURE.md", "CONTRIBUTING.md")
# A path in backticks. In it NAME, SUBJECT and N stand for any name.
GUIDE_PATH = re.compile(r"`([\w.][\w.-]*/[\w./-]*|\w+\.(?:py|toml))`")
PLACEHOLDER = re.compile(r"NAME|SUBJECT|\bN\b")
PACKAGE_ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)
PAGE_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def headings(page: str) -> set[str]:
    return set(
        re.findall(r"^## (\S+(?: \S+)?)$", text(f"docs/reference/{page}"), flags=re.MULTILINE)
    )


def rows(page: str) -> dict[str, list[str]]:
    """Return the rows of a page's tables whose first cell is code, by that cell."""
    found = re.findall(
        r"^\| `([^`]+)` \|(.*)\|$", text(f"docs/reference/{page}"), flags=re.MULTILINE
    )
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in found}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_generated_pages_are_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"


def test_every_setting_has_a_row_with_its_default() -> None:
    described = rows("settings.md")
    fields = msgspec.structs.fields(Settings)
    assert set(described) == {f"HEADWATER_{field.name.upper()}" for field in fields}
    for field in fields:
        shown = (
            str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
        )
        default, meaning = described[f"HEADWATER_{field.name.upper()}"]
        assert default.strip("`") == shown, field.name
        assert len(meaning) > len("its user") - 1


def test_every_command_has_a_heading() -> None:
    commands = dict(all_commands(get_command(app)))
    assert len(commands) > 10
    assert headings("cli.md") == set(commands)


def test_every_exit_code_is_documented() -> None:
    errors: list[type[HeadwaterError]] = [HeadwaterError, *HeadwaterError.__subclasses__()]
    codes = {error.exit_code for error in errors}
    documented = set(re.findall(r"^\| (\d+) \|", text("docs/reference/cli.md"), flags=re.MULTILINE))
    assert {str(code) for code in codes} <= documented


def test_every_audit_query_has_a_heading_and_its_answer_on_the_demo() -> None:
    found = {bare(query): query for query in audits()}
    assert found.keys() <= set(
        re.findall(r"^### (\S+)$", text("docs/reference/cypher.md"), flags=re.MULTILINE)
    )
    answered = {
        path.stem: path.read_text(encoding="utf-8").splitlines() for path in OUTPUTS.iterdir()
    }
    lesson = {f"example_{number + 1}" for number in range(len(taught()))}
    assert answered.keys() == found.keys() | lesson, "run scripts.audit_outputs"
    for name, query in found.items():
        command, columns = answered[name][:2]
        assert command.startswith(f"$ {query.example.partition('=RUN')[0]}"), name
        assert columns.split() == query.returns.replace(",", " ").split(), name


def test_every_route_has_a_row(tmp_path: Path) -> None:
    application = create_app(load({"HEADWATER_HOME": str(tmp_path)}))
    # The block is entered and left, so that its resources are closed.
    with TestClient(application):
        paths = {
            route.path.rstrip("/") or "/"
            for route in application.routes
            if isinstance(route, Route | Mount)
        }
    assert {name for name in rows("http.md") if name.startswith("/")} == paths


def test_every_answer_in_the_readme_has_data() -> None:
    answers = re.findall(r"```graphql\n.*?```json\n(.*?)```", text("README.md"), flags=re.DOTALL)
    assert answers
    for answer in answers:
        assert json.loads(answer).keys() == {"data"}
        assert json.loads(answer)["data"]["trace"]["sources"]


def test_every_link_has_a_target() -> None:
    broken = [
        f"{page}: {link}"
        for page in tracked()
        if page.endswith(".md")
        for link in PAGE_LINK.findall(text(page))
        if "://" not in link and not (ROOT / page).parent.joinpath(link).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("guide", GUIDES)
def test_every_path_in_a_guide_exists(guide: str) -> None:
    paths = {*tracked(), *(str(folder) for name in tracked() for folder in Path(name).parents)}
    missing = []
    for path in GUIDE_PATH.findall(text(guide)):
        pattern = PLACEHOLDER.sub("*", path).rstrip("/")
        # ARCHITECTURE.md leaves out the folder of the package.
        if not any(fnmatch(name, pattern) or fnmatch(name, f"*/{pattern}") for name in paths):
            missing.append(path)
    assert missing == []


def test_every_package_has_a_row_in_the_architecture() -> None:
    packages = text("ARCHITECTURE.md").partition("## Packages")[2].partition("\n## ")[0]
    named = re.findall(r"`(\w+)`", " ".join(PACKAGE_ROW.findall(packages)))
    parts = [Path(name).parts[1] for name in tracked() if name.startswith("headwater/")]
    modules = {part.removesuffix(".py") for part in parts if not part.startswith("__")}
    assert sorted(named) == sorted(modules - {"py.typed"})


def test_every_decision_is_numbered_and_complete() -> None:
    pages = sorted(name for name in tracked() if name.startswith("docs/decisions/"))
    numbers = [page.removeprefix("docs/decisions/")[:4] for page in pages]
    assert all(number.isdecimal() for number in numbers)
    assert len(numbers) == len(set(numbers))
    parts = {"Context", "Decision", "Refused", "Consequence"}
    for page in pages:
        assert set(re.findall(r"^## (\w+)$", text(page), flags=re.MULTILINE)) == parts, page


def test_the_changelog_has_this_version() -> None:
    from headwater import __version__

    assert f"## [{__version__}]" in text("CHANGELOG.md")
    assert f'version = "{__version__}"' in text("pyproject.toml")
