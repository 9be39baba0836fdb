// What happened inside a run: the steps that it recorded, and the offsets of the topics it used.
import { count, duration } from "../format.js";
import { html } from "../html.js";
import { Name } from "../parts/facts.js";
import { NodeLink } from "../parts/node.js";
import { DataTable } from "../parts/table.js";
import { t } from "../texts.js";

/** @typedef {import("../parts/table.js").Column} Column */

/** @param {{streams: any[]}} properties */
export function Streams({ streams }) {
  const rows = partitionsOf(streams);
  /** @type {(title: string, field: string) => Column} */
  const number = (title, field) => ({
    title,
    value: (row) => (row[field] === null ? null : Number(row[field])),
    cell: (row) => (row[field] === null ? "–" : count(Number(row[field]))),
    isNumber: true,
  });
  const columns = [
    {
      title: t("column.dataset"),
      value: (/** @type {any} */ row) => row.dataset.name,
      cell: (/** @type {any} */ row) =>
        html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />`,
    },
    number(t("run.streams.partition"), "partition"),
    number(t("run.streams.begin"), "begin"),
    number(t("run.streams.end"), "end"),
    number(t("run.streams.latest"), "latest"),
    number(t("run.streams.lag"), "lag"),
  ];
  const caption = t("run.streams.caption", { count: count(rows.length) });
  const key = (/** @type {any} */ row) => `${row.dataset.urn} ${row.isOutput} ${row.partition}`;
  return html`<${DataTable} caption=${caption} columns=${columns} rows=${rows} rowKey=${key} isStacked=${true} file="offsets" />`;
}

/**
 * Return a row for each partition of each topic.
 * @param {any[]} streams
 */
export function partitionsOf(streams) {
  return streams.flatMap(({ dataset, isOutput, partitions }) =>
    partitions.map((/** @type {any} */ one) => ({ ...one, dataset, isOutput })),
  );
}

/** @param {{steps: any[]}} properties */
export function Steps({ steps }) {
  const rowsIn = (/** @type {any} */ step) => rowsOf(step.inputs);
  const rowsOut = (/** @type {any} */ step) => rowsOf(step.outputs);
  /** @type {Column[]} */
  const columns = [
    { title: t("run.steps.step"), value: (step) => step.number, cell: (step) => html`${step.number}. <${Name} text=${step.name} />`, isNumber: false },
    { title: t("run.steps.rows.in"), value: rowsIn, cell: (step) => shown(rowsIn(step)), isNumber: true },
    { title: t("run.steps.rows.out"), value: rowsOut, cell: (step) => shown(rowsOut(step)), isNumber: true },
    { title: t("run.steps.fingerprints"), value: fingerprintsOf, cell: (step) => html`<bdi class="mono">${fingerprintsOf(step)}</bdi>` },
    { title: t("run.steps.keys"), value: (step) => step.rows?.dropped, cell: (step) => html`<${Keys} rows=${step.rows} />` },
    { title: t("column.duration"), value: (step) => step.seconds, cell: (step) => duration(step.seconds), isNumber: true },
    { title: t("column.error"), value: (step) => step.error, cell: (step) => html`<${Name} text=${step.error} />` },
  ];
  const caption = t("run.steps.caption", { count: count(steps.length) });
  return html`<${DataTable} caption=${caption} columns=${columns} rows=${steps} rowKey=${(/** @type {any} */ step) => step.number} isStacked=${true} file="steps" />`;
}

/**
 * Return the sum of the rows of frames; null if one of them was not measured, or there is none.
 * @param {any[]} frames
 * @returns {number | null}
 */
export function rowsOf(frames) {
  if (!frames.length || frames.some(({ rowCount }) => rowCount === null)) return null;
  return frames.reduce((sum, { rowCount }) => sum + Number(rowCount), 0);
}

/** @param {number | null} rows */
function shown(rows) {
  return rows === null ? "–" : count(rows);
}

/** @param {any} step */
function fingerprintsOf({ inputs, outputs }) {
  const joined = (/** @type {any[]} */ frames) => frames.map(({ fingerprint }) => fingerprint).join(", ");
  return `${joined(inputs) || "–"} → ${joined(outputs) || "–"}`;
}

/** @param {{rows: any}} properties */
function Keys({ rows }) {
  if (!rows) return "–";
  const { key, droppedSample, addedSample } = rows;
  const numbers = { kept: count(rows.kept), dropped: count(rows.dropped), added: count(rows.added) };
  return html`${t("run.steps.keys.text", { key, ...numbers })}
    ${droppedSample.length > 0 && html`<div><bdi>${t("run.steps.dropped", { keys: droppedSample.join(", ") })}</bdi></div>`}
    ${addedSample.length > 0 && html`<div><bdi>${t("run.steps.added", { keys: addedSample.join(", ") })}</bdi></div>`}`;
}
