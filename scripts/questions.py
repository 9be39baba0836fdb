"""Ask a demo every question of docs/reference/questions/*.toml in all its forms, and write
questions.md.

    headwater demo --home HOME && python -m scripts.questions HOME

The script serves a copy of that home and adds docs/reference/questions/events.jsonl, so the home
itself stays as it is. In questions, /demo stands for the folder of the demo and `AGO 7d 5m` for a
time. `RUN:marts/carrier_delays` stands for the newest run that completed that dataset, and
RUN:FAILED for the newest failed run. Answers show the folder as /demo and the API at its default
address. Long answers are cut, with a note.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from websockets import Subprotocol
from websockets.sync.client import connect

from headwater.cli.demo import wait_folded
from headwater.cli.stack import Stack
from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_text
from headwater.settings import load
from scripts.audit_outputs import DEMO
from scripts.catalogue import DOCS

PAGE = DOCS / "questions.md"
QUESTIONS = DOCS / "questions"
EVENTS = QUESTIONS / "events.jsonl"
API = "http://localhost:8000"
WIDTH = 116
LINES_SHOWN = 24
UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}

FAILED = (
    "MATCH (r:PipelineRun {status: 'FAIL'}) RETURN r.runId AS id ORDER BY r.failedAt DESC LIMIT 1"
)
FOUND = "MATCH (f:Finding {rule: 'failed-run'}) RETURN f.urn AS urn"
FOUND_SECONDS_MAX = 300.0
COMPLETED = """
MATCH (v:Artifact {complete: true}) WHERE v.name ENDS WITH $name
RETURN v.runId AS id ORDER BY v.createdAt DESC LIMIT 1
"""

HEAD = """# Every question, in every form

*Written by `python -m scripts.questions` from [questions/](questions), which sends each question and records its answer.*

The graph is that of `headwater demo --home /demo`, served by `headwater up --home /demo`. `HEADWATER_HOME=/demo` is set
for the commands. The demo alone has no owners, tags, tests, personal data, or history of several weeks. So {count} events
of an invented evening report, which reads one of its marts, were sent first ([events.jsonl](questions/events.jsonl), with
`headwater ingest`).

JSON answers are indented; no other answer is edited. A long answer ends in "…" and the number of omitted lines. Send
GraphQL to `/graphql`, and Cypher to `headwater cypher -` or `POST /cypher`. `headwater cypher NAME` runs a query of the
[library](cypher.md).
"""


@dataclass(frozen=True)
class Question:
    """A question in plain words and in each form. `without` gives the reason for a missing form."""

    title: str
    audience: str
    note: str = ""
    graphql: str = ""
    cypher: str = ""
    cli: str = ""
    http: str = ""
    meanwhile: str = ""
    without: str = ""
    lines: int = LINES_SHOWN
    exit: int = 0


def questions() -> list[Question]:
    """Return the questions of all files, in the order of their names."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(QUESTIONS.glob("*.toml"))]
    return [Question(**one) for text in texts for one in tomllib.loads(text)["question"]]


def main(home: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "home"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("flights"))
        settings = load(os.environ, home=str(copy), port=0)
        with Stack(settings, bolt_port=0, console=Console(stderr=True)) as stack:
            asker = Asker(stack.url, stack.database, copy, home)
            events = asker.filled(EVENTS.read_text(encoding="utf-8"))
            asker.run(f"headwater ingest - <<'END'\n{events}END", 0)
            wait_folded(settings, stack.database)
            _wait_found(stack.database)
            sections = [asker.section(question) for question in questions()]
    PAGE.write_text(
        "\n".join([HEAD.format(count=events.count("\n")), _index(), *sections]), encoding="utf-8"
    )


def _wait_found(database: Database) -> None:
    """Wait until the detector has found the failed run of the demo."""
    end = time.monotonic() + FOUND_SECONDS_MAX
    while not run_text(database, FOUND, {}).rows:
        if time.monotonic() > end:
            raise SystemExit("the detector found no failed run; read detect.log of the home")
        time.sleep(0.5)


class Asker:
    """Sends questions to the API at `url` and to the graph in `copy`, a copy of the demo in
    `home`.
    """

    def __init__(self, url: str, database: Database, copy: Path, home: Path) -> None:
        self.url = url
        self.database = database
        self.home = home
        self.work = copy.parent / "work"
        self.work.mkdir()
        (self.work / "examples").symlink_to(DOCS.parents[1] / "examples")
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.environment = {
            **os.environ,
            "HEADWATER_HOME": str(copy),
            "COLUMNS": "1000",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    def section(self, question: Question) -> str:
        print(question.title, file=sys.stderr)
        blocks = [f"## {question.title}", f"*{question.audience}*"]
        if question.note:
            blocks.append(question.note.strip())
        blocks += self._answers(question)
        if question.without:
            blocks.append(question.without)
        return "\n\n".join(blocks) + "\n"

    def _answers(self, question: Question) -> Iterator[str]:
        def answered(language: str, output: str) -> str:
            return _fenced(language, _cut(self.renamed(output), question.lines))

        if question.meanwhile:
            yield from self._subscribed(question)
        elif question.graphql:
            yield _fenced("graphql", self.shown(question.graphql))
            yield answered("json", laid_out(self.graphql(question.graphql)))
        if question.cypher.startswith("headwater "):
            yield answered("console", self.command(question.cypher))
        elif question.cypher:
            yield _fenced("cypher", self.shown(question.cypher))
            output = self.run(f"headwater cypher - <<'END'\n{self.filled(question.cypher)}\nEND", 0)
            yield answered("text", output)
        if question.cli:
            yield answered("console", self.command(question.cli, question.exit))
        for line in question.http.strip().splitlines():
            output = laid_out(
                json.loads(self.renamed(self.run(self.filled(line).replace(API, self.url), 0)))
            )
            yield answered("console", f"$ {self.shown(line)}\n{output}")

    def graphql(self, text: str) -> Any:
        body = json.dumps({"query": self.filled(text)}).encode()
        request = urllib.request.Request(
            f"{self.url}/graphql", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            output = json.loads(self.renamed(answer.read().decode()))
        if "errors" in output:
            raise ValueError(f"{text}: {output['errors']}")
        return output["data"]

    def command(self, lines: str, exit_code: int = 0) -> str:
        """Run commands one after the other and return a terminal's view of them."""
        commands = lines.strip().splitlines()
        output = []
        for number, line in enumerate(commands, start=1):
            last = exit_code if number == len(commands) else 0
            output.append(f"$ {self.shown(line)}\n{self.run(self.filled(line), last)}".rstrip())
        return "\n".join(output) + (f"\n$ echo $?\n{exit_code}" if exit_code else "")

    def run(self, line: str, exit_code: int) -> str:
        ended = subprocess.run(
            ["bash", "-c", line],
            cwd=self.work,
            env=self.environment,
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if ended.returncode != exit_code:
            raise ValueError(f"{line[:500]}: {ended.returncode}, not {exit_code}\n{ended.stdout}")
        return ended.stdout

    def _subscribed(self, question: Question) -> Iterator[str]:
        """Return the messages of a subscription with their senders, and the events posted
        meanwhile.
        """
        messages = []
        command = self.filled(question.meanwhile).replace(API, self.url)
        subscription = {
            "id": "1",
            "type": "subscribe",
            "payload": {"query": self.filled(question.graphql)},
        }
        with connect(
            self.url.replace("http", "ws") + "/graphql",
            subprotocols=[Subprotocol("graphql-transport-ws")],
        ) as socket:

            def send(message: dict[str, Any]) -> None:
                messages.append(f"-> {json.dumps(message)}")
                socket.send(json.dumps(message))

            def receive() -> None:
                messages.append(f"<- {socket.recv(timeout=30)!s}")

            send({"type": "connection_init", "payload": {}})
            receive()
            send(subscription)
            # Subscriptions report later changes only, so wait until the subscription has begun.
            sending = threading.Timer(2.0, self.run, [command, 0])
            sending.start()
            receive()
            sending.join()
            send({"id": "1", "type": "complete"})
        yield _fenced("graphql", self.shown(question.graphql))
        yield "Meanwhile an event is sent, as any producer would:"
        yield _fenced("console", f"$ {self.shown(question.meanwhile)}")
        yield "The messages on `ws://localhost:8000/graphql` (`->` by the client):"
        yield _fenced("text", self.renamed("\n".join(messages)))

    def shown(self, text: str) -> str:
        """Return a question for the page, with the run ids and times that were sent."""
        return self.renamed(self.filled(text)).strip()

    def filled(self, text: str) -> str:
        """Replace the placeholders of a question by ids and times of this demo."""
        text = text.replace(f"{DEMO}/", f"{self.home}/")
        text = re.sub(r"RUN:(FAILED|[\w/]+)", lambda match: self._run(match[1]), text)
        return re.sub(r"AGO((?: \d+[dhms])+)", lambda match: self._time(match[1].split()), text)

    def renamed(self, text: str) -> str:
        """Replace the folder of this demo by /demo, and the API's address by its default."""
        return text.replace(str(self.home), DEMO).replace(self.url, API)

    def _time(self, parts: list[str]) -> str:
        ago = timedelta(**{UNITS[part[-1]]: int(part[:-1]) for part in parts})
        return (self.now - ago).isoformat().replace("+00:00", "Z")

    def _run(self, name: str) -> str:
        found = run_text(
            self.database, FAILED if name == "FAILED" else COMPLETED, {"name": f"/{name}"}
        )
        return str(found.rows[0]["id"])


def laid_out(value: Any, indent: int = 0, before: int = 0) -> str:
    """Format JSON with short values on one line; `before` is the number of characters before it."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + before + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, list):
        parts = [f"{inner}{laid_out(one, indent + 2)}" for one in value]
        return "[\n" + ",\n".join(parts) + "\n" + " " * indent + "]"
    keys = {json.dumps(key): one for key, one in value.items()}
    parts = [
        f"{inner}{key}: {laid_out(one, indent + 2, len(key) + 2)}" for key, one in keys.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"


def _cut(text: str, lines_shown: int) -> str:
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    left = len(lines) - lines_shown
    return "\n".join(lines if left < 2 else [*lines[:lines_shown], f"… and {left} lines more"])


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def _index() -> str:
    rows = [
        f"| [{one.title}](#{_anchor(one.title)}) | {' | '.join(_forms(one))} |"
        for one in questions()
    ]
    return "\n".join(
        ["| question | GraphQL | Cypher | command | REST |", "|---|---|---|---|---|", *rows, ""]
    )


def _forms(question: Question) -> Iterator[str]:
    """Return the name of each form that the question has."""
    field = re.search(r"\{\s*(\w+)", question.graphql)
    yield f"`{field[1]}`" if field else ""
    library = re.match(r"headwater cypher (\w+)", question.cypher)
    yield f"`{library[1]}`" if library else "yes" if question.cypher else ""
    command = re.search(r"^headwater ([\w-]+(?: list\b)?)", question.cli, re.MULTILINE)
    yield f"`{command[1]}`" if command else ""
    yield "yes" if question.http else ""


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
