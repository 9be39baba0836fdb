// The columns of a dataset; each leads to where it comes from and where it goes.
import { count } from "../format.js";
import { html } from "../html.js";
import { Empty } from "../parts/messages.js";
import { NodeLink, Tags } from "../parts/node.js";
import { PrivacyChips } from "../parts/personal_data.js";
import { Section } from "../parts/section.js";
import { DataTable, withValues } from "../parts/table.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { columnUrn } from "../urns.js";

/** Columns have few neighbours, so their whole path is shown at once. */
const DEPTH = 10;

/** @param {{dataset: any, tags: Map<string, string[]>, privacy: any[]}} properties */
export function Columns({ dataset, tags, privacy }) {
  const rows = dataset.fields.map((/** @type {any} */ field, /** @type {number} */ index) => ({
    ...field,
    position: index + 1,
    tags: tags.get(field.name) ?? [],
    urn: columnUrn(dataset.urn, field.name),
  }));
  for (const row of rows) row.privacy = privacy.filter(({ urn }) => urn === row.urn);
  return html`<${Section} id="columns" title=${t("dataset.columns")}>
    ${
      rows.length
        ? html`<${DataTable}
            caption=${t("dataset.columns.caption", { count: count(rows.length) })}
            columns=${tableColumns(rows)}
            rows=${rows}
            rowKey=${(/** @type {any} */ row) => row.position}
            isStacked=${true}
            file="columns"
          />`
        : html`<${Empty} title=${t("dataset.columns.none")} hint=${t("dataset.columns.none.hint")} />`
    }
  <//>`;
}

/**
 * @param {any[]} rows
 * @returns {import("../parts/table.js").Column[]}
 */
function tableColumns(rows) {
  /** @type {import("../parts/table.js").Column} */
  const privacy = {
    title: t("privacy.class"),
    value: (row) => row.privacy.map((/** @type {any} */ entry) => entry.classification).join(" "),
    cell: (row) => html`<${PrivacyChips} entries=${row.privacy} />`,
  };
  return [
    { title: t("column.position"), value: (row) => row.position, isNumber: true },
    { title: t("column.name"), value: (row) => row.name, cell: columnName },
    { title: t("column.type"), value: (row) => row.type, cell: (row) => html`<code><bdi>${row.type}</bdi></code>` },
    { title: t("column.tags"), value: (row) => row.tags.join(" "), cell: (row) => html`<${Tags} names=${row.tags} />` },
    ...withValues([privacy], rows),
    { title: t("column.lineage"), value: (row) => row.urn, cell: lineageLinks },
  ];
}

/** @param {any} row */
function columnName(row) {
  if (!row.urn) return html`<bdi class="name">${row.name}</bdi>`;
  return html`<${NodeLink} node=${{ urn: row.urn, kind: "COLUMN", name: row.name }} showKind=${false} />`;
}

/** @param {any} row */
function lineageLinks({ urn, name }) {
  if (!urn) return null;
  const href = (/** @type {string} */ direction) => hrefOf("lineage", "", { urn, direction, depth: DEPTH });
  return html`<a href=${href("UPSTREAM")} aria-label=${t("column.upstream.label", { name })}>← ${t("column.upstream")}</a>${" "}
    <a class="nowrap" href=${href("DOWNSTREAM")} aria-label=${t("column.downstream.label", { name })}>${t("column.downstream")} →</a>`;
}
