"""Pictures of hostile names: no name is read as syntax; Graphviz itself reads the DOT."""

from __future__ import annotations

import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from headwater.errors import UnavailableError
from headwater.pictures.picture import Picture, PictureNode, dot, mermaid, render, svg

HOSTILE = [
    'a"]; evil [label="x',
    "a\\",
    "end",
    "graph TD",
    "</text><script>alert(1)</script>",
    "#quot;",
    "`md`",
    "1. list",
    "a\nb --> c",
    "%%{init: {}}%%",
    "click n0 href javascript:alert(1)",
    "ü 日本",
    "\\N \\G",
]
NODES = [PictureNode(f"dataset:db:{n}", "DATASET", name) for n, name in enumerate(HOSTILE)]
JOB = PictureNode("job:etl:j", "JOB", "j")
FAILED = PictureNode("run:r", "PIPELINE_RUN", "load", failed=True)
PICTURE = Picture(
    [*NODES, JOB, FAILED],
    [(NODES[0].urn, JOB.urn), (JOB.urn, NODES[1].urn), (JOB.urn, "dataset:not:shown")],
    NODES[0].urn,
)


def test_mermaid() -> None:
    lines = mermaid(PICTURE).splitlines()
    assert lines[0] == "flowchart LR"
    nodes = lines[1 : 1 + len(PICTURE.nodes)]
    for number, line in enumerate(nodes[: len(HOSTILE)]):
        assert line.startswith(f'  n{number}["')
        assert line.endswith('"]')
        label = line.removeprefix(f'  n{number}["').removesuffix('"]')
        assert not set(label) & set('"<>`\\[](){}%\n')
    assert nodes[-2:] == [
        f'  n{len(HOSTILE)}(["j"])',
        f'  n{len(HOSTILE) + 1}(["load #40;failed#41;"])',
    ]
    assert [line for line in lines if "-->" in line] == [
        f"  n0 --> n{len(HOSTILE)}",
        f"  n{len(HOSTILE)} --> n1",
    ]


def test_dot() -> None:
    text = dot(PICTURE)
    assert text.startswith("digraph lineage {")
    assert '\\"]; evil [label=\\"x' in text
    assert 'label="a\\\\"' in text
    program = shutil.which("dot")
    if program is None:
        return
    plain = subprocess.run(
        [program, "-Tplain"], input=text.encode(), capture_output=True, check=True
    ).stdout.decode()
    kinds = [line.split(" ", 1)[0] for line in plain.splitlines()]
    assert (kinds.count("node"), kinds.count("edge")) == (len(PICTURE.nodes), 2)


def test_svg_stands_alone() -> None:
    root = ElementTree.fromstring(svg(PICTURE))
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(texts) == len(PICTURE.nodes)
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    assert list(root.iter("{http://www.w3.org/2000/svg}style"))


def test_a_png_without_graphviz_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnavailableError, match="Graphviz") as error:
        render(PICTURE, "png")
    assert "apt-get install graphviz" in error.value.hint


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_a_png_is_drawn_by_graphviz() -> None:
    assert render(PICTURE, "png").startswith(b"\x89PNG")
