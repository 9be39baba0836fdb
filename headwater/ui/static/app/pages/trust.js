// The dashboard for those who rely on lineage: how far it can be trusted, and where not.
import { count, percent } from "../format.js";
import { html } from "../html.js";
import { FigureTiles } from "../parts/figure_tiles.js";
import { Name, Time } from "../parts/facts.js";
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
  "unknown-downstreams",
  "correlated-traces",
  "median-blast-radius",
  "certified-path-integrity",
  "model-completeness",
];
const LEVELS = [
  "M1",
  "M6",
  "M8",
  "unknown-downstreams",
  "median-blast-radius",
  "certified-path-integrity",
];
const VERSIONS = 20;
const BAR_WIDTH = 160;
const BAR_HEIGHT = 14;

export default function TrustPage() {
  useTitle(t("trust.title"));
  return html`<h1>${t("trust.title")}</h1>
    <p>${t("trust.lead")}</p>
    <${FigureTiles} names=${TILES} />
    <${ServiceLevels} ids=${LEVELS} />
    <${Models} />`;
}

function Models() {
  const asked = useAsk("ModelVersions", { first: VERSIONS });
  return html`<${Section} id="models" title=${t("trust.models")}>
    <${FieldOutcome} asked=${asked} field="breakdowns" what=${t("trust.models")}>
      ${(/** @type {any} */ { modelVersions }) =>
        modelVersions.length
          ? html`<${DataTable} caption=${t("trust.models.caption", { count: count(modelVersions.length) })} columns=${modelColumns()} rows=${modelVersions} rowKey=${(/** @type {any} */ row) => row.urn} isStacked=${true} file="model-versions" />`
          : html`<${Empty} title=${t("trust.models.none")} hint=${t("trust.models.none.hint")} />`}
    <//>
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function modelColumns() {
  return [
    { title: t("trust.model"), value: (row) => row.dataset.name, cell: (row) => html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />` },
    { title: t("column.version"), value: (row) => row.version, cell: (row) => html`<span data-urn=${row.urn}><${Name} text=${row.version} /></span>` },
    { title: t("column.created"), value: (row) => row.createdAt, cell: (row) => html`<${Time} at=${row.createdAt} />` },
    { title: t("trust.completeness"), value: (row) => row.completeness, cell: completenessCell },
    { title: t("trust.known"), value: (row) => row.known, cell: (row) => t("trust.known.of", { known: count(row.known), versions: count(row.versions) }), isNumber: true },
  ];
}

/** @param {any} row */
function completenessCell({ completeness }) {
  return html`<span class="bar-cell">
    <svg class=${completeness < 1 ? "bar-gap" : "bar-whole"} width=${BAR_WIDTH} height=${BAR_HEIGHT} viewBox=${`0 0 ${BAR_WIDTH} ${BAR_HEIGHT}`} aria-hidden="true">
      <rect x="0.5" y="0.5" width=${BAR_WIDTH - 1} height=${BAR_HEIGHT - 1} fill="none" stroke="currentColor" />
      <rect width=${Math.round(BAR_WIDTH * completeness)} height=${BAR_HEIGHT} fill="currentColor" />
    </svg>
    <span>${percent(completeness)}</span>
  </span>`;
}
