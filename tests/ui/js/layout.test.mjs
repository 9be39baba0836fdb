// Laws of the layout: they hold for each graph, not for chosen ones.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import { layout } from "../../../headwater/ui/static/app/explorer/layout.js";
import { nearestAscending } from "../../../headwater/ui/static/app/explorer/layout_heights.js";
import { STREAMS, graphOfStream, layered, shuffled, tangled } from "./graphs.mjs";

const require = createRequire(`${JSON.parse(process.env.PACKAGES)}/`);
const dagre = require("@dagrejs/dagre");

/** Graphs with names: chains, fans, real streams, generated and tangled ones. */
const GRAPHS = [
  ["nothing", { boxes: [], links: [] }],
  ["one box", { boxes: [box("a")], links: [] }],
  ["a loop", { boxes: [box("a")], links: [{ from: "a", to: "a" }] }],
  ["two that feed each other", graph("a b", "a-b b-a")],
  ["two parts and lone boxes", graph("a b c d x y z", "a-b c-d")],
  ["a fan", fan(300)],
  ...STREAMS.map((name) => [name, graphOfStream(name)]),
  ...[1, 2, 3].map((seed) => [`layers ${seed}`, layered(200, 7, 1.4, seed)]),
  ...[1, 2, 3, 4].map((seed) => [`tangle ${seed}`, tangled(30, 20 * seed, seed)]),
  ["a large tangle", tangled(400, 900, 5)],
];

function box(id, width = 200, height = 56) {
  return { id, width, height };
}

/** Return a graph from words: the boxes, and links as from-to. */
function graph(ids, links) {
  const pairs = links.split(" ").map((link) => link.split("-"));
  return {
    boxes: ids.split(" ").map((id) => box(id)),
    links: pairs.map(([from, to]) => ({ from, to })),
  };
}

function fan(count) {
  const targets = Array.from({ length: count }, (_, index) => `t${String(index).padStart(4, "0")}`);
  return {
    boxes: ["hub", ...targets].map((id) => box(id)),
    links: targets.map((to) => ({ from: "hub", to })),
  };
}

function isAcyclic({ boxes, links }) {
  const waiting = new Map(boxes.map(({ id }) => [id, 0]));
  for (const { to } of links) waiting.set(to, waiting.get(to) + 1);
  const free = [...waiting].filter(([, count]) => !count).map(([id]) => id);
  for (const id of free) {
    for (const { from, to } of links) {
      if (from !== id) continue;
      waiting.set(to, waiting.get(to) - 1);
      if (!waiting.get(to)) free.push(to);
    }
  }
  return free.length === boxes.length;
}

/** Return the result as text; equal texts are equal pictures. */
function picture({ places, ...rest }) {
  return JSON.stringify({ ...rest, places: [...places].sort(([a], [b]) => (a < b ? -1 : 1)) });
}

for (const [name, { boxes, links }] of GRAPHS) {
  test(`every box and link of ${name} is placed`, () => {
    const { places, routes, left, top, width, height } = layout(boxes, links);
    assert.deepEqual([...places.keys()].sort(), boxes.map(({ id }) => id).sort());
    const pairs = new Set(links.map(({ from, to }) => `${from}\n${to}`));
    assert.deepEqual(new Set(routes.map(({ from, to }) => `${from}\n${to}`)), pairs);
    assert.equal(routes.length, pairs.size);
    assert.deepEqual([left, top], [0, 0]);
    for (const { id, ...size } of boxes) {
      const { x, y } = places.get(id);
      assert.ok(x >= 0 && x + size.width <= width, `${id} is outside in x`);
      assert.ok(y >= 0 && y + size.height <= height, `${id} is outside in y`);
    }
  });

  test(`no two boxes of ${name} overlap`, () => {
    const { places } = layout(boxes, links);
    boxes.forEach((one, index) => {
      const { x, y } = places.get(one.id);
      for (const other of boxes.slice(index + 1)) {
        const place = places.get(other.id);
        const isBeside = x + one.width < place.x || place.x + other.width < x;
        const isAbove = y + one.height < place.y || place.y + other.height < y;
        assert.ok(isBeside || isAbove, `${one.id} overlaps ${other.id}`);
      }
    });
  });

  test(`links of ${name} run from left to right, but for those that close cycles`, () => {
    const { places, routes } = layout(boxes, links);
    const widths = new Map(boxes.map(({ id, width }) => [id, width]));
    for (const { from, to, points, isBack } of routes) {
      const [start, end] = [places.get(from), places.get(to)];
      assert.equal(points[0][0], start.x + widths.get(from));
      assert.equal(points.at(-1)[0], end.x);
      if (isBack) assert.ok(start.rank >= end.rank);
      else {
        points.slice(1).forEach(([x], index) => assert.ok(x >= points[index][0]));
        assert.ok(start.rank < end.rank);
      }
    }
    if (isAcyclic({ boxes, links })) assert.ok(!routes.some(({ isBack }) => isBack));
    const forward = routes.filter(({ isBack }) => !isBack);
    assert.ok(isAcyclic({ boxes, links: forward }));
  });

  test(`${name} looks the same whatever the order of its boxes and links`, () => {
    const first = picture(layout(boxes, links));
    for (const seed of [1, 2]) {
      const again = layout(shuffled(boxes, seed), shuffled([...links, ...links], seed));
      assert.equal(picture(again), first);
    }
  });

  test(`an anchor of ${name} keeps its place, and known boxes their order`, () => {
    const kept = boxes.filter((_, index) => index % 3 !== 1);
    if (!kept.length) return;
    const known = new Set(kept.map(({ id }) => id));
    const before = layout(
      kept,
      links.filter(({ from, to }) => known.has(from) && known.has(to)),
    ).places;
    const anchor = kept[Math.floor(kept.length / 2)].id;
    const moved = new Map([...before].map(([id, { x, y }]) => [id, { x: x - 31.5, y: y + 1e4 }]));
    const after = layout(boxes, links, { previous: moved, anchor });
    const { x, y } = after.places.get(anchor);
    assert.deepEqual({ x, y }, moved.get(anchor));
    const least = Math.min(...boxes.map(({ id }) => after.places.get(id).x));
    assert.equal(least, after.left);
    const partners = links.flatMap(({ from, to }) => [[from, to], [to, from]]);
    const linked = new Set(partners.flat());
    const partOf = partsOf(boxes, links);
    for (const one of kept) {
      for (const other of kept) {
        const [a, b] = [after.places.get(one.id), after.places.get(other.id)];
        if (partOf.get(one.id) !== partOf.get(other.id) || !linked.has(one.id)) continue;
        if (a.rank !== b.rank || moved.get(one.id).y >= moved.get(other.id).y) continue;
        // Boxes of another column and other heights: their centres decide.
        const centre = (id, places) =>
          places.get(id).y + boxes.find((each) => each.id === id).height / 2;
        if (centre(one.id, moved) < centre(other.id, moved)) assert.ok(a.y < b.y);
      }
    }
  });
}

function partsOf(boxes, links) {
  const part = new Map(boxes.map(({ id }, index) => [id, index]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const { from, to } of links) {
      const least = Math.min(part.get(from), part.get(to));
      if (part.get(from) !== least || part.get(to) !== least) changed = true;
      part.set(from, least);
      part.set(to, least);
    }
  }
  return part;
}

/** Return how often the lines of a picture cross, apart from lines with a common end. */
function crossings(routes) {
  const pieces = routes.flatMap(({ from, to, points }, route) =>
    points.slice(1).map((end, index) => ({ from, to, route, start: points[index], end })),
  );
  const side = ([ax, ay], [bx, by], [cx, cy]) =>
    Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax));
  const crossed = new Set();
  for (const one of pieces) {
    for (const other of pieces) {
      if (one.route >= other.route) continue;
      if ([one.from, one.to].some((end) => end === other.from || end === other.to)) continue;
      const isCrossing =
        side(one.start, one.end, other.start) * side(one.start, one.end, other.end) < 0 &&
        side(other.start, other.end, one.start) * side(other.start, other.end, one.end) < 0;
      if (isCrossing) crossed.add(`${one.route} ${other.route}`);
    }
  }
  return crossed.size;
}

function dagreRoutes({ boxes, links }) {
  const drawn = new dagre.graphlib.Graph({ directed: true });
  drawn.setGraph({ rankdir: "LR", ranksep: 72, nodesep: 18 });
  for (const { id, width, height } of boxes) drawn.setNode(id, { width, height });
  for (const { from, to } of links) drawn.setEdge(from, to, {});
  dagre.layout(drawn);
  // dagre cuts its lines at the boxes, which hides crossings there: lead them to the centres.
  return drawn.edges().map(({ v, w }) => {
    const inner = drawn.edge({ v, w }).points.slice(1, -1);
    const points = [drawn.node(v), ...inner, drawn.node(w)].map(({ x, y }) => [x, y]);
    return { from: v, to: w, points };
  });
}

for (const name of STREAMS) {
  test(`${name} has no more crossings than dagre's picture of it`, () => {
    const graph = graphOfStream(name);
    assert.ok(graph.links.length > 5);
    const ours = crossings(layout(graph.boxes, graph.links).routes);
    const theirs = crossings(dagreRoutes(graph));
    assert.ok(ours <= theirs, `${ours} crossings, dagre ${theirs}`);
  });
}

test("a fan's targets stand in the order of their names, and its hub at their middle", () => {
  const { boxes, links } = fan(9);
  const { places } = layout(boxes, links);
  const heights = boxes.slice(1).map(({ id }) => places.get(id).y);
  assert.deepEqual(heights, heights.toSorted((a, b) => a - b));
  assert.equal(places.get("hub").y, heights[4]);
});

test("a chain is straight", () => {
  const { boxes, links } = graph("a b c d", "a-b b-c c-d");
  const { places, routes } = layout(boxes, links);
  assert.deepEqual(["a", "b", "c", "d"].map((id) => places.get(id)), [
    { x: 0, y: 0, rank: 0 },
    { x: 272, y: 0, rank: 1 },
    { x: 544, y: 0, rank: 2 },
    { x: 816, y: 0, rank: 3 },
  ]);
  assert.deepEqual(routes[0].points, [
    [200, 28],
    [272, 28],
  ]);
});

test("a source stands beside its only reader, not at the far left", () => {
  const { boxes, links } = graph("a b c d late", "a-b b-c c-d late-d");
  assert.equal(layout(boxes, links).places.get("late").rank, 2);
});

test("a long link passes a column beside the boxes of it", () => {
  const { boxes, links } = graph("a b c", "a-b b-c a-c");
  const { places, routes } = layout(boxes, links);
  const { points } = routes.find(({ from, to }) => from === "a" && to === "c");
  const { y } = places.get("b");
  const inColumn = points.filter(([x]) => x >= 272 && x <= 472);
  assert.equal(inColumn.length, 2);
  for (const [, height] of inColumn) assert.ok(height < y || height > y + 56);
});

test("a link that closes a cycle runs below both of its boxes", () => {
  const { boxes, links } = graph("a b", "a-b b-a");
  const { places, routes } = layout(boxes, links);
  const back = routes.find(({ isBack }) => isBack);
  assert.deepEqual([back.from, back.to], ["b", "a"]);
  const lowest = Math.max(...back.points.map(([, y]) => y));
  assert.ok(lowest > places.get("a").y + 56);
});

test("the ascending values nearest to wishes, worked out by hand", () => {
  const pooled = nearestAscending(Float64Array.of(1, 4, 2, 5), Float64Array.of(1, 1, 1, 1));
  assert.deepEqual([...pooled], [1, 3, 3, 5]);
  const weighted = nearestAscending(Float64Array.of(6, 0), Float64Array.of(1, 2));
  assert.deepEqual([...weighted], [2, 2]);
});

test("boxes above the limit of passing points are still placed", () => {
  const ids = Array.from({ length: 400 }, (_, index) => `n${String(index).padStart(4, "0")}`);
  const chain = ids.slice(1).map((to, index) => ({ from: ids[index], to }));
  const long = ids.slice(200).map((to, index) => ({ from: ids[index], to }));
  const { places, routes } = layout(ids.map((id) => box(id)), [...chain, ...long]);
  assert.equal(places.get(ids[399]).rank, 399);
  assert.equal(routes.length, 599);
});
