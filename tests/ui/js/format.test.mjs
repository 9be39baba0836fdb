// Texts that are cut to a length.
import assert from "node:assert/strict";
import { test } from "node:test";

import { shortened } from "../../../headwater/ui/static/app/format.js";

test("a text that fits stays as it is", () => {
  assert.equal(shortened("orders", 6), "orders");
});

test("a path loses its first folders", () => {
  assert.equal(shortened("/lake/flights/marts/delays", 20), "…/marts/delays");
  assert.equal(shortened("/lake/flights/marts/delays", 14), "…/marts/delays");
  assert.equal(shortened("/lake/flights/marts/delays", 13), "…/delays");
});

test("other texts are cut in the middle, a long last folder at its start", () => {
  assert.equal(shortened("nyc_flights.carrier_delays", 12), "nyc…r_delays");
  assert.equal(shortened("a/a_very_long_last_part", 10), "…last_part");
});

test("characters beyond the basic plane are not cut in two", () => {
  assert.equal(shortened("🦆🦆🦆🦆🦆🦆", 4), "🦆…🦆🦆");
});
