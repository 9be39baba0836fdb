// Service levels as a table: value, target, the rest of the budget of errors, and how fast it burns.
import { count, percent } from "../format.js";
import { html } from "../html.js";
import { Empty } from "./messages.js";
import { NodeLink } from "./node.js";
import { FieldFailure, FieldOutcome, Section } from "./section.js";
import { State } from "./state.js";
import { DataTable } from "./table.js";
import { figureText } from "./tile.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

/** The state whose shape shows a verdict. */
const SHAPES = { OK: "OK", AT_RISK: "STALE", MISSED: "FAIL", UNKNOWN: null };

/** @param {{ids: string[] | null}} properties */
export function ServiceLevels({ ids }) {
  const asked = useAsk("ServiceLevels", { ids });
  return html`<${Section} id="service-levels" title=${t("levels.title")}>
    <${FieldOutcome} asked=${asked} field="serviceLevels" what=${t("levels.title")}>
      ${(/** @type {any[]} */ levels) => html`
        <${FieldFailure} asked=${asked} field="serviceLevels" />
        <${DataTable} caption=${t("levels.caption", { count: count(levels.length) })} columns=${levelColumns()} rows=${levels} rowKey=${(/** @type {any} */ row) => row.id} isStacked=${true} file="service-levels" />
      `}
    <//>
  <//>`;
}

/** @returns {import("./table.js").Column[]} */
function levelColumns() {
  return [
    { title: t("levels.level"), value: (row) => row.title, cell: (row) => html`<span data-level=${row.id} title=${`${row.measures}: ${row.counts}`}>${row.title}</span>` },
    { title: t("levels.value"), value: (row) => row.value, cell: (row) => levelText(row.value, row.unit), isNumber: true },
    { title: t("levels.target"), value: (row) => row.target, cell: (row) => t(row.goodDirection === "UP" ? "levels.least" : "levels.most", { target: levelText(row.target, row.unit) }), isNumber: true },
    { title: t("levels.budget"), value: (row) => row.budgetLeft, cell: (row) => (row.budgetLeft === null ? "–" : percent(row.budgetLeft)), isNumber: true },
    { title: t("levels.burn"), value: (row) => row.burnRate, cell: (row) => (row.burnRate === null ? "–" : count(Math.round(row.burnRate * 10) / 10)), isNumber: true },
    { title: t("levels.state"), value: (row) => row.verdict, cell: (row) => html`<${State} status=${SHAPES[/** @type {keyof typeof SHAPES} */ (row.verdict ?? "UNKNOWN")]} word=${t(VERDICTS[/** @type {keyof typeof VERDICTS} */ (row.verdict ?? "UNKNOWN")])} />` },
  ];
}

/** The name of the text of each verdict. */
const VERDICTS = /** @type {const} */ ({
  OK: "levels.ok",
  AT_RISK: "levels.risk",
  MISSED: "levels.missed",
  UNKNOWN: "levels.unknown",
});

/**
 * Return a value in words; a cost has two places.
 * @param {number | null} value
 * @param {string} unit
 */
function levelText(value, unit) {
  if (unit !== "COST" || value === null) return figureText(value, unit);
  return value.toLocaleString("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** How many gaps are shown. */
const GAPS = 50;

/** What inventories list and nobody sends lineage for, with the people who own it. */
export function InventoryGaps() {
  const asked = useAsk("InventoryGaps", { first: GAPS });
  return html`<${Section} id="gaps" title=${t("gaps.title")}>
    <${FieldOutcome} asked=${asked} field="inventoryAssets" what=${t("gaps.title")}>
      ${(/** @type {any} */ { totalCount, nodes }) =>
        nodes.length
          ? html`<${DataTable} caption=${t("gaps.caption", { count: count(totalCount), shown: count(nodes.length) })} columns=${gapColumns()} rows=${nodes} rowKey=${(/** @type {any} */ row) => row.dataset.urn} isStacked=${true} file="inventory-gaps" />`
          : html`<${Empty} title=${t("gaps.none")} hint=${t("gaps.none.hint")} />`}
    <//>
  <//>`;
}

/** @returns {import("./table.js").Column[]} */
function gapColumns() {
  return [
    { title: t("column.dataset"), value: (row) => row.dataset.name, cell: (row) => html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />` },
    { title: t("gaps.type"), value: (row) => row.dataset.type ?? "" },
    { title: t("gaps.owners"), value: (row) => row.dataset.owners.join(", ") },
    { title: t("gaps.inventories"), value: (row) => row.inventories.join(", ") },
  ];
}
