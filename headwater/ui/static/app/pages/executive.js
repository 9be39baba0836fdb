// The dashboard for those who answer for the platform: risk and value at a glance.
import { count } from "../format.js";
import { html } from "../html.js";
import { FigureTiles } from "../parts/figure_tiles.js";
import { HeatMap } from "../parts/heat_map.js";
import { Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { useTitle } from "../parts/node_head.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { ServiceLevels } from "../parts/service_levels.js";
import { DataTable } from "../parts/table.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const TILES = [
  "coverage",
  "active-pipelines",
  "critical-consumers",
  "compliance-incidents",
  "exposed-artifacts",
  "open-actions",
  "failing-runs",
  "unknown-downstreams",
];
const DATASETS = 10;

export default function ExecutivePage() {
  useTitle(t("executive.title"));
  return html`<h1>${t("executive.title")}</h1>
    <p>${t("executive.lead")}</p>
    <${FigureTiles} names=${TILES} />
    <${ServiceLevels} ids=${null} />
    <${TopDatasets} />
    <${Costs} />`;
}

function TopDatasets() {
  const asked = useAsk("TopDatasets", { first: DATASETS });
  return html`<${Section} id="top-datasets" title=${t("executive.top")}>
    <${FieldOutcome} asked=${asked} field="breakdowns" what=${t("executive.top")}>
      ${(/** @type {any} */ { topDatasets }) =>
        topDatasets.length
          ? html`<${DataTable} caption=${t("executive.top.caption", { count: count(topDatasets.length) })} columns=${topColumns()} rows=${topDatasets} rowKey=${(/** @type {any} */ row) => row.dataset.urn} isStacked=${true} file="top-datasets" />`
          : html`<${Empty} title=${t("executive.top.none")} hint=${t("executive.top.none.hint")} />`}
    <//>
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function topColumns() {
  return [
    { title: t("column.dataset"), value: (row) => row.dataset.name, cell: (row) => html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />` },
    { title: t("executive.consumers"), value: (row) => row.consumers, cell: (row) => count(row.consumers), isNumber: true },
    { title: t("column.jobs"), value: (row) => row.jobs, cell: (row) => count(row.jobs), isNumber: true },
    { title: t("executive.answers"), value: (row) => row.answers, cell: (row) => count(row.answers), isNumber: true },
    { title: t("executive.datasets"), value: (row) => row.datasets, cell: (row) => count(row.datasets), isNumber: true },
  ];
}

function Costs() {
  const asked = useAsk("CostFidelity", {});
  return html`<${Section} id="cost" title=${t("heat.title")}>
    <${FieldOutcome} asked=${asked} field="breakdowns" what=${t("heat.title")}>
      ${(/** @type {any} */ { costAgainstFidelity }) => html`<${HeatMap} cells=${costAgainstFidelity} />`}
    <//>
  <//>`;
}
