// The written selector: its syntax, and what it selects; each result worked out by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { matches, parse } from "../../../headwater/ui/static/app/explorer/selector.js";

/** raw -> load -> orders -> report_job -> report -> send -> mail; customers -> report_job. */
const GRAPH = graphOf(
  [
    ["dataset:db:raw", "DATASET", "raw", { namespace: "lake" }],
    ["job:etl:load", "JOB", "load", { state: "FAILED", owners: ["team:core"] }],
    ["dataset:db:shop.orders", "DATASET", "shop.orders", { tags: ["certified", "mail:pii=email"] }],
    ["dataset:db:customers", "DATASET", "customers", { tags: ["pii=name"], state: "STALE" }],
    ["job:etl:report job", "JOB", "report job", { owners: ["team:bi"], state: "UPSTREAM_FAILED" }],
    ["dataset:db:report", "DATASET", "report", { owners: ["team:bi"], type: "VIEW" }],
    ["job:etl:send", "JOB", "send", {}],
    ["answer:mail", "ANSWER", "mail", {}],
  ],
  ["0-1", "1-2", "2-4", "3-4", "4-5", "5-6", "6-7"],
);

function graphOf(rows, links) {
  const nodes = new Map(
    rows.map(([urn, kind, name, more]) => [urn, { urn, kind, name, ...more }]),
  );
  const urns = [...nodes.keys()];
  const edges = new Map(
    links.map((link) => {
      const [source, target] = link.split("-").map((index) => urns[Number(index)]);
      return [link, { source, target, type: "FEEDS" }];
    }),
  );
  return { nodes, edges };
}

function selected(text) {
  const selector = parse(text);
  assert.equal(selector.error, null);
  return [...matches(GRAPH, selector)].map((urn) => GRAPH.nodes.get(urn).name).sort();
}

for (const [text, names] of [
  ["orders", ["shop.orders"]],
  ["SHOP.Orders", ["shop.orders"]],
  ["dataset:db:shop.orders", ["shop.orders"]],
  ["shop.*", ["shop.orders"]],
  ["*r*r*", ["report", "report job", "shop.orders"]],
  ["+orders", ["load", "raw", "shop.orders"]],
  ["1+orders", ["load", "shop.orders"]],
  ["orders+1", ["report job", "shop.orders"]],
  ["+orders+2", ["load", "raw", "report", "report job", "shop.orders"]],
  ["report+", ["mail", "report", "send"]],
  ["0+orders+0", ["shop.orders"]],
  ["tag:pii", ["customers", "shop.orders"]],
  ["tag:pii=name", ["customers"]],
  ["tag:certified", ["shop.orders"]],
  ["owner:team:bi", ["report", "report job"]],
  ["owner:team:*", ["load", "report", "report job"]],
  ["state:failed", ["load"]],
  ["state:upstream-failed", ["report job"]],
  ["kind:answer", ["mail"]],
  ["namespace:lake", ["raw"]],
  ["type:view", ["report"]],
  ['"report job"', ["report job"]],
  ['name:"report job"+1', ["report", "report job"]],
  ["raw mail", ["mail", "raw"]],
  ["kind:dataset,+report", ["customers", "raw", "report", "shop.orders"]],
  ["tag:pii,kind:job", []],
  ["state:failed+,owner:team:bi mail", ["mail", "report", "report job"]],
  ["nothing", []],
]) {
  test(`${text} selects ${names.join(", ") || "nothing"}`, () => {
    assert.deepEqual(selected(text), names);
  });
}

test("no selector selects everything", () => {
  assert.equal(matches(GRAPH, parse("   ")).size, GRAPH.nodes.size);
});

for (const [text, error] of [
  ["orders colour:red", { key: "method", position: 7, word: "colour" }],
  ["tag:", { key: "value", position: 4, word: "tag" }],
  ["+", { key: "empty", position: 1, word: "+" }],
  ["raw,,orders", { key: "empty", position: 4, word: "" }],
  ["raw 2+tag:+3", { key: "value", position: 10, word: "tag" }],
  ['raw "no end', { key: "quote", position: 4, word: '"no end' }],
  ["kind:table", { key: "kind", position: 5, word: "table" }],
]) {
  test(`${text} is refused at ${error.position}`, () => {
    assert.deepEqual(parse(text), { terms: [], error });
    assert.equal(matches(GRAPH, parse(text)).size, GRAPH.nodes.size);
  });
}

test("a cycle ends", () => {
  const ring = graphOf(
    [
      ["dataset:db:a", "DATASET", "a", {}],
      ["job:etl:b", "JOB", "b", {}],
    ],
    ["0-1", "1-0"],
  );
  assert.equal(matches(ring, parse("+a+")).size, 2);
});

test("patterns of many stars take no time that grows with their power", () => {
  const name = "a".repeat(10_000);
  const long = graphOf([["dataset:db:a", "DATASET", name, {}]], []);
  assert.equal(matches(long, parse(`${"a*".repeat(500)}b`)).size, 0);
});
