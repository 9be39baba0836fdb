"""Tests of files of policies: what is read, and how problems are reported."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from headwater.governance.policies.files import PolicyFile, load_policies, parse_policies
from headwater.governance.policies.models import Enforcement, PolicyError, Severity, Subject

OWNERS = """\
name: owners
on: dataset
condition: size(node.owners) == 0
message: "{node.name} has no owner"
severity: P1
enforce: block
match:
  namespace: [file, 's3://*']
  tags: pii
owners: team:governance
notify: [alice, bob]
until: 2027-01-01
exceptions:
  - node: dataset:file:/tmp/*
    reason: scratch
    until: 2026-12-01
"""


def parse(text: str, path: str = "a.yaml") -> object:
    return parse_policies([PolicyFile(path, text)]).policies


def problems(text: str) -> list[str]:
    with pytest.raises(PolicyError, match=r".") as caught:
        parse(text)
    return caught.value.message.splitlines()


def test_a_policy_is_read_whole() -> None:
    (policy,) = parse_policies([PolicyFile("a.yaml", OWNERS)]).policies
    assert policy.name == "owners"
    assert policy.subjects == {Subject.DATASET}
    assert policy.severity is Severity.P1
    assert policy.enforce is Enforcement.BLOCK
    assert policy.match.namespaces == ("file", "s3://*")
    assert policy.match.tags == ("pii",)
    assert policy.owners == ("team:governance",)
    assert policy.notify == ("alice", "bob")
    assert policy.until == datetime(2027, 1, 1, tzinfo=UTC)
    assert policy.exceptions[0].until == datetime(2026, 12, 1, tzinfo=UTC)
    assert policy.variables == ("node.owners", "node.name")
    assert policy.is_standing


def test_a_directory_is_read_recursively(tmp_path: Path) -> None:
    (tmp_path / "team" / "deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.yaml").write_text(
        "name: b\nrule: required-owners\n---\nname: c\nrule: retention\n"
    )
    (tmp_path / "team/deep/x.yml").write_text(
        "policies:\n- {name: a, rule: required-description}\n"
    )
    (tmp_path / "README.md").write_text("name: no")
    (tmp_path / ".git/x.yaml").write_text("name: no")
    found = load_policies(tmp_path)
    assert [(one.name, one.file) for one in found.policies] == [
        ("a", "team/deep/x.yml"),
        ("b", "a.yaml"),
        ("c", "a.yaml"),
    ]
    digest = found.digest
    assert load_policies(tmp_path).digest == digest
    (tmp_path / "a.yaml").write_text("name: b\nrule: required-owners\n")
    assert load_policies(tmp_path).digest != digest


def test_problems_name_file_line_field_and_fix() -> None:
    text = """\
name: one
on: datset
condition: size(node.owners) == 0
---
policies:
  - name: two
    on: dataset
    condition: size(node.owner) == 0
  - name: three
    rule: required-ownrs
  - name: four
    rule: fresh-before-inference
    with:
      within: yesterday
  - name: five
    rule: required-owners
    severty: P1
  - name: Six!
    rule: required-owners
  - name: seven
    on: job
  - name: eight
    on: dataset
    condition: node.certified
    message: "{node.nam}"
  - name: nine
    condition: node.certified
"""
    found = problems(text)
    assert found[0].startswith("a.yaml:2: policy one: on: ")
    assert "write one of dataset, job, answer" in found[0]
    assert found[1] == (
        "a.yaml:8: policy two: condition: line 1, column 10 of the condition: "
        "undeclared reference to 'node.owner'"
    )
    assert found[2] == (
        "a.yaml:10: policy three: rule: 'required-ownrs' is no ready-made rule; write required-owners"
    )
    assert found[3] == (
        "a.yaml:13: policy four: with.within: The duration 'yesterday' is no duration"
    )
    assert found[4] == "a.yaml:17: policy five: severty: is no field; write severity"
    assert found[5].startswith("a.yaml:18: policy Six!: name: ")
    assert (
        found[6]
        == "a.yaml:20: policy seven: condition: write a condition or a rule, one of the two"
    )
    assert (
        found[7] == "a.yaml:25: policy eight: message: {node.nam} is no variable; write node.name"
    )
    assert found[8] == "a.yaml:26: policy nine: on: is missing; write on: dataset"
    assert len(found) == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [", "a.yaml:1: "),
        ("- 1\n- 2", "a.yaml:1: [1, 2] is no policy"),
        ("just a text", "a.yaml:1: "),
        ("a: &x [1]\nb: *x", "a.yaml:2: aliases are not supported; write the value again"),
        ("name: a\nname: b", "a.yaml:2: the key 'name' stands twice"),
        ("a: !!python/object/apply:os.system ['x']", "a.yaml:1: "),
        ("a: " + "[" * 50 + "]" * 50, "a.yaml:1: is nested more than 50 levels deep"),
        ("[" * 5000, "a.yaml:1: "),
        ("rule: retention", 'a.yaml:1: "name" is a required property'),
        ("name: 3\nrule: retention", "a.yaml:1: name: 3 is not of type"),
        ("name: a\nrule: retention\nwith: {days: -1}", "with.days: must be a whole number"),
        ("name: a\nrule: retention\nwith: {day: 1}", "with.day: the rule retention has no such"),
        ("name: a\nrule: retention\nuntil: soon", "a.yaml:3: policy a: until: 'soon' is no time"),
        (
            "name: a\non: job\ncondition: node.certified\nwith: {a: 1}",
            "with: belongs to a ready-made",
        ),
        ("\x00", "a.yaml:1: "),
        ('name: "\\ud800"', "a.yaml:1: has half of a surrogate pair, which is no text"),
        ("!!binary aGVsbG8=", 'a.yaml:1: "aGVsbG8=" is no policy; write name: and condition:'),
        (
            "name: a\non: job\ncondition: node.name.matches('(')",
            "a.yaml:3: policy a: condition: the regular expression '(' cannot be used; write one",
        ),
        (
            "name: a\non: job\ncondition: node.name . matches( '(a{1000}){1000}' )",
            "the regular expression '(a{1000}){1000}' cannot be used",
        ),
        (
            f"name: a\non: job\ncondition: {'(' * 100}true{')' * 100}",
            "a.yaml:3: policy a: condition: The condition is nested too deep, or has too many",
        ),
        (
            f"name: a\non: job\ncondition: 1{'+1' * 100}==1",
            "a.yaml:3: policy a: condition: The condition is nested too deep, or has too many",
        ),
        (
            f"name: a\non: job\ncondition: node.name == '{'a' * 5_000}'",
            "is longer than 4000 characters",
        ),
    ],
)
def test_hostile_texts_are_refused(text: str, message: str) -> None:
    assert message in problems(text)[0]


def test_a_name_stands_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: x\nrule: retention\n")
    (tmp_path / "b.yaml").write_text("name: x\nrule: retention\n")
    with pytest.raises(PolicyError) as caught:
        load_policies(tmp_path)
    assert caught.value.message == "b.yaml:1: name: x is in a.yaml too; rename one"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="there is no such directory"):
        load_policies(tmp_path / "no")
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="is no text in UTF-8"):
        load_policies(tmp_path)
    (tmp_path / "a.yaml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(PolicyError, match="it has more than 1,000,000 bytes"):
        load_policies(tmp_path)


def test_many_unknown_fields_are_cut() -> None:
    found = problems("name: a\nrule: retention\n" + "".join(f"k{one}: 1\n" for one in range(9_000)))
    assert len(found) == 51


def test_a_thousand_policies_are_read() -> None:
    text = "\n---\n".join(f"name: p{one}\nrule: required-owners" for one in range(1_000))
    assert len(parse_policies([PolicyFile("a.yaml", text)]).policies) == 1_000


def test_an_empty_file_has_no_policies() -> None:
    assert parse("") == parse("# nothing\n---\n") == ()


def test_many_problems_are_cut() -> None:
    found = problems("\n---\n".join(["name: x\nrule: no"] * 60))
    assert len(found) == 51
    assert found[-1] == "and 10 more problems"
