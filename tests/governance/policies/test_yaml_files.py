"""Tests of YAML whose texts stay texts and whose values have lines."""

from __future__ import annotations

from headwater.governance.policies.yaml_files import read_documents

TEXT = """\
on: yes
until: 2026-12-31
days: 30
share: 0.5
flag: true
nothing:
list:
  - "1"
  - {name: a}
"""


def test_texts_stay_texts() -> None:
    (document,) = read_documents(TEXT)
    assert document.value == {
        "on": "yes",
        "until": "2026-12-31",
        "days": 30,
        "share": 0.5,
        "flag": True,
        "nothing": None,
        "list": ["1", {"name": "a"}],
    }


def test_values_have_lines() -> None:
    (document,) = read_documents(TEXT)
    assert document.line_of(("on",)) == 1
    assert document.line_of(("list", 1, "name")) == 9
    assert document.line_of(("list", 1, "missing")) == 9
    assert document.line_of(("missing",)) == 1


def test_empty_documents_are_left_out() -> None:
    assert [one.value for one in read_documents("---\n---\na: 1\n---\n")] == [{"a": 1}]
