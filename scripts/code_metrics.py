"""Count the traits that make code hard to read, and list each place.

    python -m scripts.code_metrics                    the counts, one line each
    python -m scripts.code_metrics --list [PATH ...]  every place in the files under PATH

`tests/repo/test_prose.py` and `tests/repo/test_shape.py` hold the limits.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
VERBS = frozenset((ROOT / "scripts" / "verbs.txt").read_text(encoding="utf-8").split())
LINE_CHARACTERS_MAX = 100
COMPLEXITY_MAX = 12
VAGUE_WORDS = re.compile(r"\b(what|whoever|told|tells|said)\b", re.IGNORECASE)
BANNED_WORDS = re.compile(
    r"\b(whoever|afresh|anew|mend(s|ed|ing)?|put off|taken out|of which|no more|out of sight"
    r"|in sight|set aside|in dress|is told)\b",
    re.IGNORECASE,
)
# Generated from the program, or kept as others wrote them.
GENERATED = (
    "docs/reference/cli.md",
    "docs/reference/cypher.md",
    "docs/reference/questions.md",
    "docs/reference/cypher/",
)
# Migrations are not edited after they were applied somewhere.
FROZEN = "headwater/cypher/migrations/"
VENDOR = "headwater/ui/static/vendor/"
_CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_ARGUMENT = re.compile(r"^ {4}\*{0,2}(\w+): ", re.MULTILINE)
_AFTER_ARGUMENTS = re.compile(r"\n\n(?=\S)")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Place:
    """One place that a count is made of."""

    count: str
    path: str
    line: int
    detail: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.count}: {self.detail}"


def tracked(ending: str, *folders: str) -> list[str]:
    """Return the files of the repository with this ending, under the folders or anywhere."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = (name for name in listed.splitlines() if name.endswith(ending))
    ours = (name for name in names if "/captures/" not in name and not name.startswith(VENDOR))
    return sorted(name for name in ours if (ROOT / name).is_file())


def statements() -> list[str]:
    """Return the files of statements whose heads may still change."""
    return [name for name in tracked(".cypher", "headwater") if not name.startswith(FROZEN)]


def pages() -> list[str]:
    """Return the pages that people wrote."""
    return [name for name in tracked(".md") if not name.startswith(GENERATED)]


@cache
def read(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def syntax_tree(name: str) -> ast.Module:
    """Return the syntax tree of a Python file of the repository."""
    return ast.parse(read(name))


def long_lines(name: str) -> Iterator[Place]:
    """Yield the lines that are longer than the limit."""
    for number, line in enumerate(read(name).splitlines(), start=1):
        if len(line) > LINE_CHARACTERS_MAX:
            yield Place("long line", name, number, f"{len(line)} characters")


def nested_expressions(name: str) -> Iterator[Place]:
    """Yield comprehensions inside comprehensions, and conditional expressions inside others.

    A comprehension with two `for` clauses is a nested one.
    """
    for node in ast.walk(syntax_tree(name)):
        if isinstance(node, _COMPREHENSIONS) and len(node.generators) > 1:
            yield Place("nested comprehension", name, node.lineno, ast.unparse(node)[:60])
        for kinds, count in (
            (_COMPREHENSIONS, "nested comprehension"),
            ((ast.IfExp,), "nested condition"),
        ):
            if isinstance(node, kinds) and any(
                isinstance(inner, kinds) for inner in ast.walk(node) if inner is not node
            ):
                yield Place(count, name, node.lineno, ast.unparse(node)[:60])


def complex_functions(names: Sequence[str]) -> Iterator[Place]:
    """Yield the functions that ruff finds too complex, or that have too many parameters."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "json"]
    rules = ["--select", "C901,PLR0912,PLR0913", "--exit-zero"]
    printed = subprocess.run(
        [*command, *rules, *names], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for found in json.loads(printed):
        path = str(Path(found["filename"]).relative_to(ROOT))
        count = "parameters" if found["code"] == "PLR0913" else "complex function"
        yield Place(count, path, found["location"]["row"], found["message"])


def docstrings(name: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield every module, class and function of a file that has a docstring, with it."""
    for node in ast.walk(syntax_tree(name)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield node, text


def without_imperative(name: str) -> Iterator[Place]:
    """Yield the functions whose docstring does not begin with a verb in the imperative."""
    for node, text in docstrings(name):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = re.match(r"[A-Za-z-]+", text)
        if first is None or first[0].lower() not in VERBS:
            yield Place("docstring without a verb", name, node.lineno, text.splitlines()[0][:60])


def wrong_arguments(name: str) -> Iterator[Place]:
    """Yield the functions whose section `Args:` names other parameters than the function has."""
    for node, text in docstrings(name):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or "Args:\n" not in text:
            continue
        section = _AFTER_ARGUMENTS.split(text.partition("Args:\n")[2])[0]
        described = set(_ARGUMENT.findall(section))
        # `iter_child_nodes` leaves out the parameters of lambdas in defaults.
        parameters = {
            child.arg for child in ast.iter_child_nodes(node.args) if isinstance(child, ast.arg)
        }
        wrong = described ^ (parameters - {"self", "cls"})
        if wrong:
            yield Place("wrong argument", name, node.lineno, f"{node.name}: {sorted(wrong)}")


@cache
def prose(name: str) -> tuple[tuple[int, str], ...]:
    """Return the docstrings and comments of a Python file, or the text of a page, with lines."""
    return tuple(_prose(name))


def _prose(name: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a Python file, or the text of a page, with lines."""
    if name.endswith(".md"):
        yield 1, _INLINE_CODE.sub("", _CODE_BLOCK.sub("", read(name)))
        return
    if name.endswith(".cypher"):
        for number, line in enumerate(read(name).splitlines(), start=1):
            if line.lstrip().startswith("//"):
                yield number, _INLINE_CODE.sub("", line.lstrip(" /"))
        return
    for node, text in docstrings(name):
        yield getattr(node, "lineno", 1), _INLINE_CODE.sub("", text)
    for token in tokenize.generate_tokens(io.StringIO(read(name)).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], _INLINE_CODE.sub("", token.string.lstrip("# "))


def vague_words(name: str, count: str = "vague word") -> Iterator[Place]:
    """Yield the words that stand for a missing noun."""
    for line, text in prose(name):
        for match in VAGUE_WORDS.finditer(text):
            around = text[max(0, match.start() - 25) : match.end() + 25].replace("\n", " ")
            yield Place(count, name, line, around)


def banned_words(name: str) -> Iterator[Place]:
    """Yield the words that the style of Headwater replaces by others."""
    for line, text in prose(name):
        for match in BANNED_WORDS.finditer(text):
            around = text[max(0, match.start() - 25) : match.end() + 25].replace("\n", " ")
            yield Place("banned word", name, line, around)


def words(names: Sequence[str]) -> int:
    """Return how many words of prose the files hold."""
    return sum(len(text.split()) for name in names for _, text in prose(name))


def modules() -> list[str]:
    """Return the modules of the package that a test file can mirror."""
    names = tracked(".py", "headwater")
    return [name for name in names if not Path(name).name.startswith("__") and read(name).strip()]


def unmirrored() -> list[Place]:
    """Return the modules that have no test file at the same place under tests/."""
    places = []
    for name in modules():
        path = Path(name).relative_to("headwater")
        mirror = Path("tests") / path.parent / f"test_{path.name}"
        if not (ROOT / mirror).is_file():
            places.append(Place("unmirrored module", name, 1, str(mirror)))
    return places


def import_cycle() -> list[str]:
    """Return one cycle of modules that import each other, typing imports included; or nothing."""
    graph = grimp.build_graph("headwater", cache_dir=None)
    arrows = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def places_of(names: Sequence[str]) -> list[Place]:
    """Return every place of the counts that a single file decides."""
    python = [name for name in names if name.endswith(".py")]
    places = list(complex_functions(python)) if python else []
    for name in names:
        if name.endswith(".py"):
            places += long_lines(name)
            places += nested_expressions(name)
            if not name.startswith("tests/"):
                places += without_imperative(name)
                places += wrong_arguments(name)
        places += vague_words(name)
        places += banned_words(name)
    return sorted(places, key=lambda place: (place.path, place.line))


def counts() -> dict[str, str]:
    """Return the counts by name, each as printed."""
    package = tracked(".py", "headwater")
    lines = sum(len(read(name).splitlines()) for name in package)
    places = places_of(package)
    by_count: dict[str, int] = {}
    for place in places:
        by_count[place.count] = by_count.get(place.count, 0) + 1

    def rate(names: Sequence[str]) -> str:
        found = sum(len(list(vague_words(name))) for name in names)
        return f"{1000 * found / max(1, words(names)):.1f}"

    written = [*package, *pages(), *statements()]
    banned = [place for name in written for place in banned_words(name)]
    nested = by_count.get("nested comprehension", 0)
    all_modules = modules()
    mirrored = len(all_modules) - len(unmirrored())
    return {
        "modules, lines": f"{len(package)}, {lines}",
        "import cycles, typing imports included": str(int(bool(import_cycle()))),
        "modules in cypher/": str(len([name for name in modules() if "/cypher/" in name])),
        "mirrored modules": f"{100 * mirrored / len(all_modules):.0f} %",
        "nested comprehensions per 1,000 lines": f"{1000 * nested / lines:.2f}",
        "nested conditional expressions": str(by_count.get("nested condition", 0)),
        f"lines over {LINE_CHARACTERS_MAX} characters": str(by_count.get("long line", 0)),
        f"functions over complexity {COMPLEXITY_MAX}": str(by_count.get("complex function", 0)),
        "functions over 8 parameters": str(by_count.get("parameters", 0)),
        "docstrings without a verb first": str(by_count.get("docstring without a verb", 0)),
        "vague words per 1,000, docstrings and comments": rate(package),
        "vague words per 1,000, docs": rate(pages()),
        "vague words per 1,000, heads of statements": rate(statements()),
        "vague words per 1,000, tests": rate(tracked(".py", "tests")),
        "banned words": str(len(banned)),
    }


def main() -> None:
    """Print the counts, or every place under the given paths."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--list", action="store_true", help="print every place")
    parser.add_argument("--count", default="", help="only places of counts that contain this")
    parser.add_argument("paths", nargs="*", help="files and folders (all)")
    chosen = parser.parse_args()
    if not chosen.list:
        for name, value in counts().items():
            print(f"{value:>12}  {name}")
        return
    names = [
        name for ending in (".py", ".md", ".cypher") for name in tracked(ending, *chosen.paths)
    ]
    names = [name for name in names if not name.startswith(GENERATED)]
    mirrors = [p for p in unmirrored() if p.path in names]
    for place in [*places_of(names), *mirrors]:
        if chosen.count in place.count:
            print(place)


if __name__ == "__main__":
    main()
