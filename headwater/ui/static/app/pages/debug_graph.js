// A run drawn between the versions that it read and those that it wrote.
import { count, shortened } from "../format.js";
import { html } from "../html.js";
import { Empty } from "../parts/messages.js";
import { hrefOfNode } from "../router.js";
import { t } from "../texts.js";
import { withVersions } from "./run_data.js";

const SHOWN = 12;
const BOX = { width: 220, height: 44 };
const GAP = { x: 70, y: 12 };
const NAME_LENGTH = 26;

/** @param {{run: any}} properties */
export function RunGraph({ run }) {
  const reads = withVersions(run.inputs, [...run.readArtifacts, ...run.readSources]);
  const writes = withVersions(run.outputs, run.artifacts);
  if (!reads.length && !writes.length) return html`<${Empty} title=${t("debug.graph.none")} />`;
  const [left, right] = [reads.slice(0, SHOWN), writes.slice(0, SHOWN)];
  const rows = Math.max(left.length, right.length, 1);
  const height = rows * (BOX.height + GAP.y);
  const width = 3 * BOX.width + 2 * GAP.x;
  const middle = { x: BOX.width + GAP.x, y: (height - BOX.height) / 2 };
  const place = (/** @type {number} */ column, /** @type {number} */ index, /** @type {number} */ number) => ({
    x: column * (BOX.width + GAP.x),
    y: ((index + 0.5) * height) / number - BOX.height / 2,
  });
  const name = run.pipelineName ?? run.runId;
  const label = t("debug.graph.label", { run: name, inputs: names(reads), outputs: names(writes) });
  const [drawn, total] = [left.length + right.length, reads.length + writes.length];
  return html`<div class="run-graph table-frame" tabindex="0" role="region" aria-label=${label}>
      <svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${label}>
        ${left.map((row, index) => html`<${Edge} key=${keyOf(row)} from=${place(0, index, left.length)} to=${middle} />`)}
        ${right.map((row, index) => html`<${Edge} key=${keyOf(row)} from=${middle} to=${place(2, index, right.length)} />`)}
        ${left.map((row, index) => html`<${Version} key=${keyOf(row)} row=${row} at=${place(0, index, left.length)} />`)}
        ${right.map((row, index) => html`<${Version} key=${keyOf(row)} row=${row} at=${place(2, index, right.length)} />`)}
        <${Box} at=${middle} href=${hrefOfNode({ urn: run.urn, kind: "PIPELINE_RUN" })} urn=${run.urn} name=${name} note=${run.status} isRun=${true} />
      </svg>
    </div>
    ${drawn < total && html`<p class="soft">${t("debug.graph.cut", { shown: count(drawn), total: count(total) })}</p>`}`;
}

/** @param {any[]} rows */
function names(rows) {
  return rows.map(({ dataset }) => dataset.name).join(", ") || t("debug.graph.nothing");
}

/** @param {any} row */
function keyOf({ dataset, version }) {
  return version?.urn ?? dataset.urn;
}

/** @param {{row: any, at: {x: number, y: number}}} properties */
function Version({ row, at }) {
  const { dataset, version } = row;
  const rows = version?.rowCount ?? null;
  const note = rows === null ? (version?.version ?? "") : t("answer.tree.rows", { count: count(rows) });
  return html`<${Box} at=${at} href=${hrefOfNode({ ...dataset, kind: "DATASET" })} urn=${keyOf(row)} name=${dataset.name} note=${note} />`;
}

/** @param {{at: {x: number, y: number}, href: string, urn: string, name: string, note: string, isRun?: boolean}} properties */
function Box({ at, href, urn, name, note, isRun = false }) {
  return html`<a href=${href} data-urn=${urn} class=${isRun ? "box run" : "box"}>
    <title>${name}</title>
    <rect x=${at.x + 1} y=${at.y + 1} width=${BOX.width - 2} height=${BOX.height - 2} rx=${isRun ? BOX.height / 2 : 4} />
    <text x=${at.x + BOX.width / 2} y=${at.y + (note ? 19 : 27)} text-anchor="middle">${shortened(name, NAME_LENGTH)}</text>
    ${note && html`<text class="note" x=${at.x + BOX.width / 2} y=${at.y + 35} text-anchor="middle">${shortened(String(note), NAME_LENGTH)}</text>`}
  </a>`;
}

/** @param {{from: {x: number, y: number}, to: {x: number, y: number}}} properties */
function Edge({ from, to }) {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const bend = GAP.x / 2;
  return html`<path class="edge" d=${`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 7} ${y2}`} />
    <path class="arrow" d=${`M${x2} ${y2}l-8 -4v8z`} />`;
}
