// Files of the drawn graph. Names come from strangers: none of them may become syntax.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  factsOf,
  toCsv,
  toJson,
  toMermaid,
  toSvg,
} from "../../../headwater/ui/static/app/explorer/exports.js";
import { layout } from "../../../headwater/ui/static/app/explorer/layout.js";
import { boxesOf, linksOf, sceneOf } from "../../../headwater/ui/static/app/explorer/scene.js";

const HOSTILE = `<img src=x onerror="alert(1)">\u0000\u202e"]; click n0 "javascript:x" \ud800`;
const NODES = [
  { urn: "dataset:db:raw", kind: "DATASET", name: "raw", namespace: "db", state: "OK" },
  { urn: "job:etl:load", kind: "JOB", name: HOSTILE, namespace: "etl", state: "FAILED" },
  { urn: "dataset:db:out", kind: "DATASET", name: "=cmd|x", state: "STALE", tags: ["a=b", "pii"] },
  { urn: "hidden:1", kind: "HIDDEN", name: "hidden" },
];
const EDGES = [
  { source: "dataset:db:raw", target: "job:etl:load", type: "FEEDS" },
  { source: "job:etl:load", target: "dataset:db:out", type: "PRODUCED", change: "removed" },
  { source: "dataset:db:out", target: "hidden:1", type: "FEEDS", kinds: ["identity"] },
];
const SHOWN = { nodes: NODES, edges: EDGES };
/** Each token is its own colour, so that a test can see which one was taken. */
const COLOURS = new Proxy({}, { get: (_, name) => `of-${String(name)}` });
const ABOUT = {
  savedAt: "2026-01-31T12:00:00Z",
  asOf: "2026-01-30T00:00:00Z",
  filters: ["tag:pii"],
  shown: 4,
  total: 9,
  hidden: 1,
};

function drawn(options = {}) {
  const scene = sceneOf(SHOWN, layout(boxesOf(NODES), linksOf(EDGES)));
  return toSvg(scene, { title: HOSTILE, facts: factsOf(ABOUT), colours: COLOURS, ...options });
}

/** Return the tags of a document in XML; text and attributes are left out. */
function tags(xml) {
  const open = [];
  for (const [, close, name, attributes, self] of xml.matchAll(
    /<(\/?)([a-z]+)((?:\s[a-zA-Z:-]+="[^"<]*")*)\s*(\/?)>/g,
  )) {
    if (close) assert.equal(open.pop(), name);
    else if (!self) open.push(name);
    assert.ok(!/\son\w+=/.test(attributes));
  }
  assert.deepEqual(open, []);
  return [...xml.matchAll(/<([a-z]+)/g)].map(([, name]) => name);
}

test("an SVG file is well-formed, and strangers' texts are texts", () => {
  const svg = drawn();
  const known = new Set(["svg", "title", "desc", "rect", "text", "g", "path"]);
  assert.deepEqual(new Set(tags(svg)), known);
  assert.ok(!svg.includes("<img"));
  assert.ok(svg.includes("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"));
  assert.ok(!svg.includes("\u0000"));
  assert.ok(svg.isWellFormed());
});

test("an SVG file names its date, time, filters and what it leaves out", () => {
  const svg = drawn();
  for (const words of ["2026-01-31 12:00:00", "2026-01-30 00:00:00", "tag:pii", "4", "9"]) {
    assert.ok(svg.includes(words), words);
  }
  assert.equal(factsOf(ABOUT).length, 5);
  assert.equal(factsOf({ ...ABOUT, asOf: "", filters: [], hidden: 0 }).length, 2);
});

test("an SVG file shows states by word, shape and colour", () => {
  const svg = drawn();
  assert.ok(svg.includes(">failed</text>"));
  assert.ok(svg.includes('fill="of-failed-ground" stroke="of-failed"'));
  assert.ok(svg.includes('stroke-dasharray="6 5"'));
});

test("everything lies inside of an SVG file", () => {
  const svg = drawn();
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg).map(Number);
  assert.ok(width >= 4 * 232 && height > 68);
  const [, right, down] = /<g transform="translate\(([\d.-]+) ([\d.-]+)\)">/.exec(svg).map(Number);
  for (const [, x, y] of svg.matchAll(/<g transform="translate\(([\d.]+) ([\d.]+)\)"><title/g)) {
    assert.ok(right + Number(x) + 232 <= width && down + Number(y) + 68 <= height);
  }
});

test("a long name is cut in its middle", () => {
  const nodes = [{ ...NODES[0], name: `${"x".repeat(9_000)}end` }];
  const scene = sceneOf({ nodes, edges: [] }, layout(boxesOf(nodes), []));
  const svg = toSvg(scene, { title: "t", facts: [], colours: COLOURS });
  const [, label] = /font-weight="600" fill="of-ink">(x[^<]*)</.exec(svg);
  assert.ok(label.length < 40 && label.includes("…") && label.endsWith("end"));
});

test("Mermaid reads no name as syntax", () => {
  const lines = toMermaid(SHOWN).trimEnd().split("\n");
  assert.equal(lines[0], "flowchart LR");
  assert.equal(lines[1], '  n0[("raw · complete")]'.replace("·", "#183;"));
  assert.equal(lines.length, 1 + NODES.length + EDGES.length);
  for (const line of lines.slice(1, 5)) {
    assert.match(line, /^ {2}n\d[[({]+"[\p{L}\p{N} /_:.#;-]*"[\])}]+$/u);
  }
  assert.equal(lines[5], "  n0 --> n1");
  assert.equal(lines[7], '  n2 -->|"identity"| n3');
});

test("JSON holds the nodes and edges as they are", () => {
  const value = JSON.parse(toJson(SHOWN, { title: "raw", facts: ["all"], savedAt: "now" }));
  assert.equal(value.format, "headwater-lineage");
  assert.deepEqual(value.edges, EDGES);
  assert.equal(value.nodes[1].name, JSON.parse(JSON.stringify(HOSTILE)));
});

test("CSV has a row for each node, and runs no formula", () => {
  const rows = toCsv(SHOWN).trimEnd().split("\r\n");
  assert.equal(rows.length, 1 + NODES.length);
  assert.ok(rows[0].startsWith('"urn","kind","namespace","name","state"'));
  assert.ok(rows[3].includes(`"'=cmd|x"`));
  assert.ok(rows[3].includes('"a=b pii"'));
  assert.ok(rows[3].endsWith('"job:etl:load","hidden:1"'));
});

test("an empty graph is a file too", () => {
  const svg = toSvg({ boxes: new Map(), lines: [] }, { title: "t", facts: [], colours: COLOURS });
  assert.deepEqual(new Set(tags(svg)), new Set(["svg", "title", "desc", "rect", "text", "g"]));
  assert.equal(toMermaid({ nodes: [], edges: [] }), "flowchart LR\n");
});
