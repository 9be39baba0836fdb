"""Signing in to the page in Chromium, at a real provider of OpenID Connect. It needs no Neo4j."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from headwater.local.ports import free_port
from tests.access.oidc.mock_provider import serving_provider
from tests.access.oidc.signed_on_api import serving_api
from tests.browser import MILLISECONDS_MAX

pytestmark = pytest.mark.slow


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with (
        serving_provider(tmp_path) as issuer,
        serving_api(tmp_path, issuer, free_port()) as url,
    ):
        yield url


def sign_in(tab: Page, address: str, sub: str) -> None:
    tab.set_default_timeout(MILLISECONDS_MAX)
    tab.goto(f"{address}/policies")
    tab.get_by_role("link", name="Sign in with Example").click()
    tab.get_by_role("button", name=sub, exact=True).click()


def test_a_person_signs_in_and_one_without_a_role_sees_why(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        tab = context.new_page()
        sign_in(tab, address, "ann")
        tab.wait_for_url(f"{address}/policies")
        expect(tab.locator("details.account summary")).to_contain_text("Ann Ray")
        assert tab.evaluate("document.cookie") == ""
        [cookie] = context.cookies()
        assert (cookie["name"], cookie["httpOnly"]) == ("headwater_session", True)
    with browser.new_context() as context:
        tab = context.new_page()
        sign_in(tab, address, "eve")
        expect(tab.get_by_role("alert").first).to_contain_text("has no role in Headwater")
