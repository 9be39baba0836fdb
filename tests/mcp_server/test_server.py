"""The MCP server with the official client, over stdio and HTTP, against an API that requires keys."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool

from headwater.mcp_server.tools import TOOLS
from tests.run_builders import at, ds, job

pytestmark = pytest.mark.neo4j
CALLS: dict[str, dict[str, Any]] = {
    "search": {"text": "load"},
    "describe": {"node": "a"},
    "trace": {"answer": "kpi"},
    "lineage": {"node": "d", "direction": "upstream"},
    "failed_runs": {"since": at(1), "namespace": "etl"},
    "findings": {"tier": "P1", "node": "load"},
    "root_cause": {"node": "kpi"},
    "impact": {"node": "a", "change": "column_drop", "column": "total"},
}


def environment(api: str, key: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "HEADWATER_URL": api, "HEADWATER_API_KEY": key}


@asynccontextmanager
async def over_stdio(api: str, key: str) -> AsyncIterator[ClientSession]:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "headwater", "mcp"], env=environment(api, key)
    )
    async with (
        stdio_client(parameters) as (reading, writing),
        ClientSession(reading, writing) as one,
    ):
        await one.initialize()
        yield one


@asynccontextmanager
async def over_http(url: str, key: str) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
        streamable_http_client(url, http_client=http_client) as (reading, writing),
        ClientSession(reading, writing) as one,
    ):
        await one.initialize()
        yield one


@pytest.fixture(scope="module")
def http_url(api: str, keys: dict[str, str]) -> Iterator[str]:
    """Run the MCP server over HTTP. It has a key in its environment, which it must never use."""
    with http_server(api, keys["all"]) as url:
        yield url


@contextmanager
def http_server(api: str, key: str) -> Iterator[str]:
    command = [sys.executable, "-m", "headwater", "mcp", "--http", "--port", "0"]
    process = subprocess.Popen(
        command,
        env=environment(api, key),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        yield line.removeprefix("MCP at ").partition(",")[0]
    finally:
        process.terminate()
        process.wait(15)
        process.stderr.close()


def text_of(result: CallToolResult) -> str:
    return "\n".join(one.text for one in result.content if one.type == "text")


async def call_all(session: ClientSession) -> dict[str, CallToolResult]:
    return {name: await session.call_tool(name, given) for name, given in CALLS.items()}


def check_answers(tools: list[Tool], results: dict[str, CallToolResult]) -> None:
    """Check the tools and their answers about the graph of `tests/keyed_api.py`."""
    schemas = {tool.name: tool for tool in tools}
    assert schemas.keys() == TOOLS.keys() == CALLS.keys()
    content: dict[str, Any] = {}
    for name, result in results.items():
        assert not result.is_error, text_of(result)
        content[name] = result.structured_content
        jsonschema.validate(content[name], schemas[name].output_schema or {})
        assert text_of(result)
    assert job("load") in {node["urn"] for node in content["search"]["nodes"]}
    assert [one["name"] for one in content["describe"]["dataset"]["fields"]] == ["total"]
    assert [one["name"] for one in content["trace"]["sources"]] == ["raw"]
    assert "source db raw" in text_of(results["trace"])
    assert content["lineage"]["nodes"][0]["urn"] == ds("d")
    assert [one["runId"] for one in content["failed_runs"]["failedRuns"]] == ["load-2"]
    assert "=disk full" in text_of(results["failed_runs"])
    assert content["root_cause"]["starts"]
    assert content["findings"]["findings"] == []
    assert content["impact"]["risk_level"] == "high"
    assert "breaking JOB mart (total)" in text_of(results["impact"])


def test_every_tool_over_stdio(api: str, keys: dict[str, str]) -> None:
    async def ask() -> None:
        async with over_stdio(api, keys["read"]) as session:
            tools = (await session.list_tools()).tools
            check_answers(tools, await call_all(session))

    anyio.run(ask)


def test_every_tool_over_http(http_url: str, keys: dict[str, str]) -> None:
    async def ask() -> None:
        async with over_http(http_url, keys["read"]) as session:
            tools = (await session.list_tools()).tools
            check_answers(tools, await call_all(session))

    anyio.run(ask)


def test_the_tools_describe_themselves(http_url: str) -> None:
    async def ask() -> list[Tool]:
        async with over_http(http_url, "") as session:
            return (await session.list_tools()).tools

    for tool in anyio.run(ask):
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.annotations.destructive_hint is False
        assert len(tool.description or "") > 60
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), f"{tool.name} {name}"
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
    lineage = TOOLS["lineage"]
    assert lineage.title == "Show lineage up or down"


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_key_of_another_namespace_sees_nothing(
    transport: str, api: str, http_url: str, keys: dict[str, str]
) -> None:
    async def ask() -> dict[str, CallToolResult]:
        opened = (
            over_stdio(api, keys["other"])
            if transport == "stdio"
            else over_http(http_url, keys["other"])
        )
        async with opened as session:
            return await call_all(session)

    results = anyio.run(ask)
    shown = json.dumps([text_of(one) for one in results.values()])
    contents = [one.structured_content for one in results.values() if one.structured_content]
    for hidden in ("mart", "load-2", "raw", "disk"):
        assert hidden not in json.dumps(contents)
    assert "mart" not in shown
    for name in ("describe", "trace", "lineage", "root_cause", "impact"):
        assert results[name].is_error, name
        assert "search" in text_of(results[name])
    assert results["search"].structured_content == {"nodes": [], "totalCount": 0, "omitted": {}}


def test_a_key_of_one_namespace_sees_stubs_of_the_others(
    http_url: str, keys: dict[str, str]
) -> None:
    async def ask() -> CallToolResult:
        async with over_http(http_url, keys["db"]) as session:
            return await session.call_tool("lineage", {"node": "d", "direction": "upstream"})

    result = anyio.run(ask)
    kinds = {node["urn"]: node["kind"] for node in result.structured_content["nodes"]}
    assert {ds("d"), ds("a"), ds("raw")} <= kinds.keys()
    assert set(kinds.values()) == {"DATASET", "HIDDEN"}
    assert "mart" not in json.dumps(result.structured_content) + text_of(result)


def test_a_client_of_the_newest_protocol(api: str, keys: dict[str, str]) -> None:
    async def ask() -> CallToolResult:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "headwater", "mcp"],
            env=environment(api, keys["read"]),
        )
        async with Client(parameters) as client:
            return await client.call_tool("trace", {"answer": "kpi"})

    assert "source db raw" in text_of(anyio.run(ask))


@pytest.mark.parametrize("key", ["", "hw_wrong_key"])
def test_no_valid_key_no_answer(http_url: str, key: str) -> None:
    async def ask() -> dict[str, CallToolResult]:
        async with over_http(http_url, key) as session:
            return await call_all(session)

    for result in anyio.run(ask).values():
        assert result.is_error
        assert result.structured_content is None
        assert "Authorization: Bearer" in text_of(result)
        assert not key or key not in text_of(result)


def test_callers_of_one_server_do_not_share_a_key(http_url: str, keys: dict[str, str]) -> None:
    async def ask() -> None:
        async with over_http(http_url, keys["read"]) as one, over_http(http_url, "") as other:
            assert not (await one.call_tool("trace", {"answer": "kpi"})).is_error
            assert (await other.call_tool("trace", {"answer": "kpi"})).is_error
            assert not (await one.call_tool("trace", {"answer": "kpi"})).is_error

    anyio.run(ask)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("trace", {}, "missing required field `answer`"),
        ("trace", {"answer": "kpi", "depth": 3}, "unknown field `depth`"),
        ("lineage", {"node": "d", "direction": "sideways"}, "sideways"),
        ("lineage", {"node": "d", "depth": 1000}, "depth"),
        ("lineage", {"node": "nothing-has-this-name"}, "tool `search`"),
        ("failed_runs", {"since": "soon"}, "'soon' is no time"),
        ("impact", {"node": "a", "change": "column_rename", "column": "total"}, "needs `to`"),
        ("describe", {"node": "column:db:a:total"}, "`lineage` takes any node"),
    ],
)
def test_a_mistake_is_an_error_with_a_hint(
    name: str, arguments: dict[str, Any], words: str, http_url: str, keys: dict[str, str]
) -> None:
    async def ask() -> CallToolResult:
        async with over_http(http_url, keys["read"]) as session:
            return await session.call_tool(name, arguments)

    result = anyio.run(ask)
    assert result.is_error
    assert words in text_of(result)


def test_numbers_may_be_text(http_url: str, keys: dict[str, str]) -> None:
    async def ask() -> CallToolResult:
        async with over_http(http_url, keys["read"]) as session:
            return await session.call_tool("lineage", {"node": "d", "depth": "1", "limit": "2"})

    content = anyio.run(ask).structured_content
    assert len(content["nodes"]) == 2
    assert (content["truncated"], content["truncatedBy"]) == (True, "limit")
    urns = {node["urn"] for node in content["nodes"]}
    assert all({edge["source"], edge["target"]} <= urns for edge in content["edges"])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "attacker.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_a_page_of_another_site_is_refused(
    http_url: str, headers: dict[str, str], status: int
) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    address = urlsplit(http_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    try:
        connection.request(
            "POST",
            address.path,
            json.dumps(message),
            {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                **headers,
            },
        )
        assert connection.getresponse().status == status
    finally:
        connection.close()


def test_a_loopback_address_only(http_url: str) -> None:
    assert urlsplit(http_url).hostname == "127.0.0.1"
