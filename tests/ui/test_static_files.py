"""The static files: kept for good under their digest, asked again elsewhere, small in all."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.ui import static_files
from headwater.ui.routes import routes
from headwater.ui.static_files import FOLDER, IMMUTABLE, REVALIDATED, digest, imported_by

CLIENT = TestClient(Starlette(routes=routes()))
PAGE_BYTES_MAX = 300_000
# What the browser needs before the first view asks its question.
FIRST_BYTES_MAX = 60_000
# GraphiQL is a page of its own.
OTHERS = ("vendor/graphiql-3.8.3/", "graphiql.")


def compressed(names: list[str]) -> int:
    return sum(len(gzip.compress((FOLDER / name).read_bytes())) for name in names)


def page_files() -> list[str]:
    names = (str(file.relative_to(FOLDER)) for file in FOLDER.rglob("*") if file.is_file())
    served = (name for name in names if name.endswith((".js", ".mjs", ".css", ".svg", ".html")))
    return [name for name in served if not name.startswith(OTHERS)]


def test_everything_is_under_300_kb_compressed() -> None:
    assert compressed(page_files()) < PAGE_BYTES_MAX


def test_the_frame_of_the_page_is_small() -> None:
    frame = ["index.html", "theme.js", "app.css", "app/main.js", *imported_by("app/main.js")]
    assert compressed(frame) < FIRST_BYTES_MAX


def test_the_page_names_its_files_by_their_digest() -> None:
    page = CLIENT.get("/", headers={"accept": "text/html"}).text
    links = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert f"/static/{digest()}/app/main.js" in links
    assert f"/static/{digest()}/vendor/preact-11.2.0/preact.mjs" in links
    for link in links:
        answer = CLIENT.get(link)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, IMMUTABLE), link


@pytest.mark.parametrize("folder", ["", f"{'0' * 16}/"])
def test_an_address_without_the_digest_is_asked_again(folder: str) -> None:
    answer = CLIENT.get(f"/static/{folder}app.css")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, REVALIDATED)
    seen = {"if-none-match": answer.headers["etag"]}
    again = CLIENT.get(f"/static/{folder}app.css", headers=seen)
    assert (again.status_code, again.headers["cache-control"]) == (304, REVALIDATED)


def test_no_file_outside_the_folder_is_served() -> None:
    assert CLIENT.get(f"/static/{digest()}/..%2f__init__.py").status_code == 404
    assert CLIENT.get(f"/static/{digest()}/nothing.js").status_code == 404


def test_the_digest_follows_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_files, "FOLDER", tmp_path)
    digests = []
    for content in ("one", "two", "one"):
        (tmp_path / "a.js").write_text(content)
        static_files._digest_in.cache_clear()
        digests.append(digest())
    static_files._digest_in.cache_clear()
    assert digests[0] == digests[2] != digests[1]
