// The words on edges, on places worked out by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { gapFor, labelOf, placedLabels } from "../../../headwater/ui/static/app/explorer/edge_labels.js";

const edge = (kinds) => ({ source: "a", target: "b", type: "FEEDS", kinds });
const BOXES = [
  { x: 0, y: 0, width: 100, height: 50 },
  { x: 300, y: 0, width: 100, height: 50 },
];

test("kinds are read as words, and edges of groups are counted", () => {
  assert.equal(labelOf(edge(["group_by", "filter"])), "group by, filter");
  assert.equal(labelOf({ ...edge([]), count: 3 }), "× 3");
  assert.equal(labelOf({ ...edge([]), count: 1 }), "");
});

test("columns stand apart by the longest label, within bounds", () => {
  assert.equal(gapFor([edge([]), edge([])]), 0);
  // 8 characters of 7.2 pixels, and 24 on each side.
  assert.equal(Math.round(gapFor([edge(["identity"])]) * 10), 1056);
  assert.equal(gapFor([edge(["x".repeat(500)])]), 180);
});

test("a label stands in the middle of its line, above it", () => {
  const line = { edge: edge(["identity"]), points: [[100, 25], [300, 25]] };
  assert.deepEqual(placedLabels([line], BOXES).get(0), { text: "identity", x: 200, y: 20 });
});

test("labels cover neither boxes nor each other", () => {
  const line = { edge: edge(["identity"]), points: [[100, 25], [300, 25]] };
  const labels = placedLabels([line, line, line, line, line], BOXES);
  const middles = [...labels.values()].map(({ x }) => x).sort((a, b) => a - b);
  // The room between the boxes is 200 pixels, and a label is 57.6 wide.
  assert.deepEqual(middles, [140, 200, 260]);
  for (const x of middles) assert.ok(x - 28.8 >= 100 && x + 28.8 <= 300);
});

test("a label that has no place is left out", () => {
  const line = { edge: edge(["transformation"]), points: [[100, 25], [150, 25]] };
  assert.equal(placedLabels([line], [BOXES[0], { x: 150, y: 0, width: 100, height: 50 }]).size, 0);
});
