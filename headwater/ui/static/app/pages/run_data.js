// The datasets that a run read and wrote, with the versions and their rows.
import { count, moment } from "../format.js";
import { html } from "../html.js";
import { Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { t } from "../texts.js";
import { idOfUrn } from "../urns.js";

/** @param {{run: any}} properties */
export function Reads({ run }) {
  const versions = [
    ...run.readArtifacts.map((/** @type {any} */ version) => ({ ...version, at: version.createdAt })),
    ...run.readSources.map((/** @type {any} */ source) => ({ ...source, at: source.capturedAt, isRaw: true })),
  ];
  const rows = withVersions(run.inputs, versions);
  if (!rows.length) return html`<${Empty} title=${t("run.inputs.none")} />`;
  return html`<${DataTable} caption=${t("run.inputs.caption")} columns=${columnsOf()} rows=${rows} rowKey=${keyOf} file="inputs" />`;
}

/** @param {{run: any}} properties */
export function Writes({ run }) {
  const versions = run.artifacts.map((/** @type {any} */ version) => ({ ...version, at: version.createdAt }));
  const rows = withVersions(run.outputs, versions);
  if (!rows.length) return html`<${Empty} title=${t("run.outputs.none")} />`;
  return html`<${DataTable} caption=${t("run.outputs.caption")} columns=${columnsOf()} rows=${rows} rowKey=${keyOf} file="outputs" />`;
}

/**
 * Return each dataset with each of its versions; a dataset without one stands alone.
 * @param {any[]} datasets
 * @param {any[]} versions
 */
export function withVersions(datasets, versions) {
  return datasets.flatMap((dataset) => {
    const own = versions.filter((version) => version.dataset.urn === dataset.urn);
    return (own.length ? own : [null]).map((version) => ({ dataset, version }));
  });
}

/** @param {any} row */
function keyOf({ dataset, version }) {
  return version?.urn ?? dataset.urn;
}

/** @returns {import("../parts/table.js").Column[]} */
function columnsOf() {
  return [
    { title: t("column.dataset"), value: ({ dataset }) => dataset.name, cell: ({ dataset }) => html`<${NodeLink} node=${{ ...dataset, kind: "DATASET" }} showKind=${false} />` },
    { title: t("column.version"), value: ({ version }) => version?.at, cell: ({ version }) => html`<${Version} version=${version} />` },
    { title: t("column.rows"), value: ({ version }) => (version?.rowCount ? Number(version.rowCount) : version?.rowCount), cell: ({ version }) => (version ? count(version.rowCount) : ""), isNumber: true },
  ];
}

/** @param {{version: any}} properties */
function Version({ version }) {
  if (!version) return html`<span class="soft">${t("run.version.none")}</span>`;
  const word = version.isRaw ? t("run.version.source") : t("run.version.written", { when: moment(version.at) });
  const isIncomplete = version.status && version.status !== "COMPLETE";
  return html`<span data-urn=${version.urn} title=${version.runId ? idOfUrn(`run:${version.runId}`) : ""}>
    ${version.version ? html`<bdi class="name">${version.version}</bdi>, ` : ""}${word}
    ${isIncomplete && html`<br /><${State} status=${version.status} />`}
  </span>`;
}
