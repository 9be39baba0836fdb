// Personal data, competing datasets and what to do about policies, in words. Pure functions.
import assert from "node:assert/strict";
import { test } from "node:test";

import { privacyOf } from "../../../headwater/ui/static/app/explorer/marks.js";
import { fixOf } from "../../../headwater/ui/static/app/pages/dataset_policies.js";
import { isModel } from "../../../headwater/ui/static/app/pages/dataset_model.js";
import { wordsOf } from "../../../headwater/ui/static/app/pages/dataset_rivals.js";
import { shownStateOf, worstOfClasses } from "../../../headwater/ui/static/app/parts/personal_data.js";

const STEP = [{}];
const entry = (classification, state, steps = STEP) => ({ classification, state, steps });

test("a node that has a class itself is classified, whatever arrives elsewhere", () => {
  assert.equal(shownStateOf(entry("email", "EXPOSED", [])), "CLASSIFIED");
  assert.equal(shownStateOf(entry("email", "EXPOSED")), "EXPOSED");
  assert.equal(shownStateOf(entry("email", "DECLASSIFIED", [])), "DECLASSIFIED");
});

test("each class stands once, with its most severe state, the most severe class first", () => {
  const found = worstOfClasses([
    entry("email", "MASKED"),
    entry("phone", "UNKNOWN"),
    entry("email", "UNKNOWN"),
    entry("name", "EXPOSED"),
    entry("iban", "EXPOSED", []),
  ]);
  const words = found.map((one) => `${one.classification} ${shownStateOf(one)}`);
  assert.deepEqual(words, ["name EXPOSED", "email UNKNOWN", "phone UNKNOWN", "iban CLASSIFIED"]);
  assert.deepEqual(worstOfClasses([]), []);
});

test("the explorer says which classes are where, or that it does not know", () => {
  const node = { kind: "DATASET", namespace: "db", personalDataClasses: ["email", "phone"] };
  assert.equal(privacyOf({ ...node, personalData: "MASKED" }), "■ masked: email, phone");
  assert.equal(privacyOf({ ...node, personalData: null }), "no personal data known");
  assert.equal(privacyOf({ ...node, personalData: undefined }), "not known");
  assert.equal(privacyOf({ ...node, kind: "JOB", personalData: null }), "db");
});

test("the certified one of competing datasets is named", () => {
  const certified = { urn: "a", certified: true, deprecated: false };
  const other = { urn: "b", certified: false, deprecated: true };
  assert.equal(wordsOf(certified, "a", "b"), "certified: use this one");
  assert.equal(wordsOf(other, "a", "b"), "this dataset, not certified, deprecated");
  assert.equal(wordsOf(certified, null, "b"), "certified too");
});

test("what to do follows from the rule, or else from whom to ask", () => {
  assert.equal(fixOf({ about: { rule: "required-owners", owners: [] } }), "Add an owner under Edits.");
  const own = { rule: null, owners: ["team:a", "team:b"] };
  assert.equal(fixOf({ about: own }), "Ask team:a, team:b, or read the runbook.");
  assert.equal(fixOf({ about: { rule: "new-rule", owners: [] } }), "Read the runbook.");
  assert.equal(fixOf({ about: null }), "Read the runbook.");
});

test("models are known by their type, in any case", () => {
  assert.equal(isModel({ type: "model" }), true);
  assert.equal(isModel({ type: "ML_MODEL" }), true);
  assert.equal(isModel({ type: "DBT_MODEL" }), false);
  assert.equal(isModel({ type: null }), false);
});
