"""Code files beneath a folder: what is read, and everything that must not be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from headwater.code_analysis.model import UnreadableError
from headwater.code_analysis.repository_files import (
    CODE_BYTES_MAX,
    FILE_BYTES_MAX,
    RepositoryCode,
    is_code_path,
    read_code,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "a.sql").write_text("select 1", encoding="utf-8")
    (tmp_path / "secret.sql").write_text("select password from users", encoding="utf-8")
    return folder


def reason(root: Path, reference: str) -> str:
    with pytest.raises(UnreadableError) as caught:
        read_code(root, reference)
    return str(caught.value)


def test_code_with_its_language(root: Path) -> None:
    assert read_code(root, "models/a.sql") == RepositoryCode("models/a.sql", "sql", "select 1")
    (root / "b.PY").write_bytes(b"\xef\xbb\xbfx = 'caf\xc3\xa9'")
    assert read_code(root, "b.PY") == RepositoryCode("b.PY", "python", "x = 'café'")


def test_a_notebook_without_its_outputs(root: Path) -> None:
    outputs = [{"output_type": "stream", "text": ["a person's data"]}]
    cells = [
        {"cell_type": "markdown", "source": "# secret"},
        {"cell_type": "code", "source": ["a = 1\n", "b = 2"], "outputs": outputs},
    ]
    (root / "n.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    found = read_code(root, "n.ipynb")
    assert found.language == "jupyter"
    assert json.loads(found.text) == {"cells": [{"cell_type": "code", "source": "a = 1\nb = 2"}]}
    for malformed in ("", "[]", "{}", '{"cells": [1]}', '{"cells": ' + "[" * 50_000):
        (root / "n.ipynb").write_text(malformed, encoding="utf-8")
        assert "malformed" in reason(root, "n.ipynb")


@pytest.mark.parametrize(
    "reference",
    [
        "../secret.sql",
        "models/../../secret.sql",
        "models/./a.sql",
        "models//a.sql",
        "/etc/passwd.sql",
        "{outside}",
        "..\\secret.sql",
        "models\\a.sql",
        "models/a.sql\0.sql",
        "\ud800.sql",
        ".git/a.sql",
        "models/.a.sql",
        "models/a.sql/",
        "models/a.sql/b.sql",
        "models/none.sql",
        "x" * 300 + ".sql",
        "models.sql",
    ],
)
def test_paths_that_are_not_read(root: Path, reference: str) -> None:
    (root / "models.sql").mkdir()
    outside = str(root.parent / "secret.sql")
    assert "password" not in reason(root, reference.format(outside=outside))


def test_links_are_not_followed(root: Path) -> None:
    (root / "link.sql").symlink_to(root.parent / "secret.sql")
    (root / "inside.sql").symlink_to(root / "models" / "a.sql")
    (root / "folder").symlink_to(root.parent)
    for reference in ("link.sql", "inside.sql", "folder/secret.sql"):
        assert "a part of its path is a link" in reason(root, reference)


def test_only_regular_files_of_text_within_bounds(root: Path) -> None:
    os.mkfifo(root / "pipe.sql")
    assert "regular" in reason(root, "pipe.sql")
    (root / "big.sql").write_bytes(b" " * (FILE_BYTES_MAX + 1))
    assert "larger" in reason(root, "big.sql")
    (root / "long.sql").write_bytes(b"a" * CODE_BYTES_MAX)
    assert "larger" in reason(root, "long.sql")
    (root / "latin.sql").write_bytes(b"caf\xe9")
    assert "UTF-8" in reason(root, "latin.sql")
    (root / "binary.sql").write_bytes(b"a\0b")
    assert "binary" in reason(root, "binary.sql")
    (root / "empty.sql").write_bytes(b" \n")
    assert "empty" in reason(root, "empty.sql")
    assert "no such file" in reason(root / "gone", "a.sql")


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("models/a.sql", True),
        ("dags/a.py", True),
        ("n.IPYNB", True),
        ("postgres://warehouse/a.sql", False),
        ("daily_revenue_report", False),
        ("models/schema.yml", False),
        ("", False),
    ],
)
def test_paths_of_code(reference: str, expected: bool) -> None:
    assert is_code_path(reference) is expected
