"""The pages of the runbooks: text for people, safe without a key and without scripts."""

from __future__ import annotations

import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.health.findings.runbooks import RUNBOOKS
from headwater.ui.routes import routes
from headwater.ui.runbooks import runbook_routes

CLIENT = TestClient(Starlette(routes=[*routes(), *runbook_routes()]))


def test_the_list_leads_to_a_page_for_each_rule() -> None:
    page = CLIENT.get("/runbooks")
    assert page.status_code == 200
    links = re.findall(r'href="(/runbooks/[\w-]+)"', page.text)
    assert links == [f"/runbooks/{rule}" for rule in RUNBOOKS]


@pytest.mark.parametrize("rule", sorted(RUNBOOKS))
def test_the_page_of_a_rule(rule: str) -> None:
    page = CLIENT.get(f"/runbooks/{rule}")
    assert page.status_code == 200
    assert f"<h1>{rule}: {RUNBOOKS[rule]}</h1>" in page.text
    headings = re.findall("<h2>(.*?)</h2>", page.text)
    assert headings == ["Check", "End it", "Keep it from coming again", "Who to call"]
    assert "`" not in page.text
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for link in re.findall(r'href="(/static[^"]+)"', page.text):
        assert CLIENT.get(link).status_code == 200, link


def test_an_unknown_rule_is_not_found_and_its_name_not_shown() -> None:
    page = CLIENT.get("/runbooks/<b>no")
    assert page.status_code == 404
    assert "<b>" not in page.text
