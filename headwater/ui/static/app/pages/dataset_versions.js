// The versions of a dataset, with their row counts as a chart.
import { count, size } from "../format.js";
import { html } from "../html.js";
import { Name, Time } from "../parts/facts.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section, useSeen } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable, withValues } from "../parts/table.js";
import { TimeChart } from "../parts/time_chart.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const VERSIONS = 100;

/** @param {{urn: string}} properties */
export function Versions({ urn }) {
  const later = useSeen();
  const { isSeen } = later;
  const asked = useAsk(isSeen ? "DatasetVersions" : null, { urn, first: VERSIONS });
  return html`<${Section} id="versions" title=${t("dataset.versions")} later=${later}>
    <${FieldOutcome} asked=${asked} field="dataset" what=${t("dataset.versions")}>
      ${(/** @type {any} */ { versions }) => html`<${Whole} versions=${versions.nodes} total=${versions.totalCount} />`}
    <//>
  <//>`;
}

/** @param {{versions: any[], total: number}} properties */
function Whole({ versions, total }) {
  if (!versions.length) return html`<${Empty} title=${t("dataset.versions.none")} hint=${t("dataset.versions.none.hint")} />`;
  return html`<${RowCounts} versions=${versions} />
    <${DataTable}
      caption=${t("dataset.versions.caption")}
      columns=${withValues(tableColumns(), versions)}
      rows=${versions}
      rowKey=${(/** @type {any} */ version) => version.urn}
      isStacked=${true}
      file="versions"
    />
    ${total > versions.length && html`<${Cut} shown=${count(versions.length)} total=${count(total)} />`}`;
}

/**
 * Return versions with a time and a row count, oldest first, as times and two rows of values: of
 * complete versions, and of the others.
 * @param {any[]} versions
 */
export function rowCountSeries(versions) {
  const counted = versions
    .filter((version) => version.createdAt && version.rowCount !== null)
    .map((version) => ({ ...version, seconds: Date.parse(version.createdAt) / 1000 }))
    .sort((a, b) => a.seconds - b.seconds);
  return {
    times: counted.map((version) => version.seconds),
    complete: counted.map((version) => (version.complete ? Number(version.rowCount) : null)),
    incomplete: counted.map((version) => (version.complete ? null : Number(version.rowCount))),
  };
}

/** @param {{versions: any[]}} properties */
function RowCounts({ versions }) {
  const { times, complete, incomplete } = rowCountSeries(versions);
  if (times.length < 2) return html`<p class="soft">${t("dataset.versions.rows.none")}</p>`;
  const label = t("dataset.versions.incomplete");
  const series = [
    { label: t("column.rows"), color: "accent", values: complete },
    { label, color: "failed", values: incomplete, isMarks: true },
  ];
  return html`<figure>
    <${TimeChart} label=${t("dataset.versions.chart")} times=${times} series=${series} format=${count} />
    <figcaption class="soft">
      ${t("dataset.versions.chart")}. ${incomplete.some((value) => value !== null) ? t("dataset.versions.marks", { label }) : ""}
    </figcaption>
  </figure>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function tableColumns() {
  return [
    { title: t("column.created"), value: (row) => row.createdAt, cell: (row) => html`<span data-urn=${row.urn}><${Time} at=${row.createdAt} /></span>` },
    { title: t("column.state"), value: (row) => row.status, cell: (row) => html`<${State} status=${row.status} />` },
    { title: t("column.rows"), value: (row) => numberOf(row.rowCount), cell: (row) => count(row.rowCount), isNumber: true },
    { title: t("column.bytes"), value: (row) => numberOf(row.bytes), cell: (row) => size(row.bytes), isNumber: true },
    { title: t("column.version"), value: (row) => row.version, cell: (row) => html`<${Name} text=${row.version} />` },
    { title: t("column.drift"), value: (row) => row.drift.join("; "), cell: (row) => html`<${Name} text=${row.drift.join(", ")} />` },
    { title: t("column.run"), value: (row) => row.runId, cell: (row) => row.run && html`<${NodeLink} showKind=${false} node=${{ urn: row.run.urn, kind: "PIPELINE_RUN", name: row.run.pipelineName ?? row.runId }} />` },
  ];
}

/** @param {string | number | null} value  a Long, which may come as a string */
function numberOf(value) {
  return value === null ? null : Number(value);
}
