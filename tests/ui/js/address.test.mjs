// The address of the explorer: what it accepts, and that it survives the way there and back.
import assert from "node:assert/strict";
import { test } from "node:test";

import { hrefOfView, viewOf } from "../../../headwater/ui/static/app/explorer/address.js";

test("directions and levels are read in any case", () => {
  const view = viewOf({ urn: "dataset:db:orders", direction: "upstream", level: "column" });
  assert.equal(view.direction, "UPSTREAM");
  assert.equal(view.level, "COLUMN");
});

test("a kind of node names its level", () => {
  const levels = ["dataset", "JOB", "version", "Answer", "run"].map((level) => viewOf({ level }).level);
  assert.deepEqual(levels, ["DATASET_AND_JOB", "DATASET_AND_JOB", "RUN", "RUN", "RUN"]);
});

test("what is not known gets its default", () => {
  const view = viewOf({ urn: "u", direction: "sideways", depth: "-3", asOf: "yesterday", level: "x" });
  assert.deepEqual([view.direction, view.depth, view.asOf, view.level], ["BOTH", 1, "", ""]);
});

test("an address leads back to its state", () => {
  const view = viewOf({ urn: "dataset:s3://lake:a b/ü?&", direction: "DOWNSTREAM", depth: "7", level: "RUN" });
  const url = new URL(hrefOfView(view), "http://localhost");
  assert.deepEqual(viewOf(Object.fromEntries(url.searchParams)), view);
});
