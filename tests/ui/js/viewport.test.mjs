// The first viewport of a graph, worked out by hand for a stage of 1,000 by 500 pixels.
import assert from "node:assert/strict";
import { test } from "node:test";

import { opening, worldArea } from "../../../headwater/ui/static/app/explorer/viewport.js";

const STAGE = { width: 1000, height: 500 };

test("a small graph is shown whole, in the middle", () => {
  const bounds = { x: 0, y: 0, width: 400, height: 100 };
  const area = worldArea(opening(bounds, { x: 0, y: 0 }, STAGE), STAGE);
  assert.deepEqual(area, { x: -300, y: -200, width: 1000, height: 500 });
});

test("a centre at the end of a long graph leaves no room empty behind it", () => {
  const bounds = { x: 0, y: 0, width: 4000, height: 100 };
  const view = opening(bounds, { x: 4000, y: 50 }, STAGE);
  // The right end of the graph lies at the right margin of 48 pixels.
  assert.equal(Math.round(4000 * view.scale + view.left), 952);
});

test("a centre in the middle of a long graph is in the middle of the stage", () => {
  const bounds = { x: 0, y: 0, width: 4000, height: 100 };
  const view = opening(bounds, { x: 2000, y: 50 }, STAGE);
  assert.equal(Math.round(2000 * view.scale + view.left), 500);
});
