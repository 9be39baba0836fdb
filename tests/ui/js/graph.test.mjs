// Laws and cases of what the explorer shows of a graph.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  graphOf,
  pathOf,
  shownOf,
  withoutBareStarts,
} from "../../../headwater/ui/static/app/explorer/graph.js";
import { grouped } from "../../../headwater/ui/static/app/explorer/groups.js";

/** Return the graph of edges such as "a>b", with "a" as its start. */
function graph(...edges) {
  const pairs = edges.map((edge) => edge.split(">"));
  const names = [...new Set(pairs.flat())];
  return graphOf({
    starts: ["a"],
    nodes: names.map((name) => ({ urn: name, kind: "DATASET", name, namespace: `of ${name[0]}` })),
    edges: pairs.map(([source, target]) => ({ source, target, type: "FEEDS" })),
  });
}

const urns = (shown) => shown.nodes.map(({ urn }) => urn).sort();

test("the nearest nodes are shown up to the budget, and the rest is counted", () => {
  const shown = shownOf(graph("a>b", "a>c", "a>d", "d>e"), { budget: 3 });
  assert.deepEqual(urns(shown), ["a", "b", "c"]);
  assert.deepEqual(shown.more.get("a"), { up: 0, down: 1 });
});

test("a side that the reader opened is shown beyond the budget", () => {
  const shown = shownOf(graph("a>b", "a>c", "a>d", "d>e"), { budget: 3, open: [">a"] });
  assert.deepEqual(urns(shown), ["a", "b", "c", "d"]);
});

test("a folded side hides what only it leads to", () => {
  const shown = shownOf(graph("a>b", "b>c", "a>d", "d>c", "b>e"), { folded: [">b"] });
  assert.deepEqual(urns(shown), ["a", "b", "c", "d"]);
  assert.deepEqual(shown.more.get("b"), { up: 0, down: 1 });
});

test("only sides that led to others can be folded", () => {
  const shown = shownOf(graph("a>b", "b>c"));
  assert.deepEqual([...shown.open].sort(), [">a", ">b"]);
});

test("the server's count of neighbours decides how many are missing", () => {
  const whole = graph("a>b");
  whole.nodes.get("b").downstreamCount = 4;
  assert.deepEqual(shownOf(whole).more.get("b"), { up: 0, down: 4 });
});

test("a path has what is upstream and downstream, not what is beside", () => {
  const shown = shownOf(graph("a>b", "b>c", "x>c", "b>d"));
  assert.deepEqual([...pathOf(shown, "c")].sort(), ["a", "b", "c", "x"]);
});

test("a difference marks what was added and keeps what was removed", () => {
  const changed = graphOf({
    starts: ["a"],
    nodes: [{ urn: "a" }, { urn: "b" }],
    edges: [{ source: "a", target: "b" }],
    difference: {
      addedNodes: [{ urn: "b" }],
      removedNodes: [{ urn: "c" }],
      addedEdges: [{ source: "a", target: "b" }],
      removedEdges: [{ source: "a", target: "c" }],
    },
  });
  const changes = [...changed.nodes.values()].map(({ urn, change }) => `${urn} ${change}`);
  assert.deepEqual(changes, ["a same", "b added", "c removed"]);
  assert.deepEqual([...changed.edges.values()].map(({ change }) => change), ["added", "removed"]);
});

test("starts without an edge are left out and counted", () => {
  const whole = { ...graph("a>b"), starts: ["a", "z"] };
  whole.nodes.set("z", { urn: "z", kind: "COLUMN", name: "z" });
  const rest = withoutBareStarts(whole);
  assert.deepEqual([[...rest.nodes.keys()], rest.starts, rest.bare], [["a", "b"], ["a"], 1]);
});

test("a group stands for its members, with the number of their edges", () => {
  const whole = graph("a>b1", "a>b2", "b1>c1", "b2>c1");
  whole.nodes.get("a").downstreamCount = 2;
  const some = grouped(whole, "namespace", []);
  assert.deepEqual([...some.nodes.keys()].sort(), ["a", "c1", "group:of%20b"]);
  assert.equal(some.edges.get("a group:of%20b").count, 2);
  assert.equal(some.nodes.get("a").downstreamCount, 1);
  const opened = grouped(whole, "namespace", ["group:of%20b"]);
  assert.deepEqual([...opened.nodes.keys()].sort(), ["a", "b1", "b2", "c1"]);
});
