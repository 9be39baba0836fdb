// The same graph as a table: for narrow windows, for spreadsheets, and for those who do not see it.
import { count } from "../format.js";
import { html } from "../html.js";
import { Time } from "../parts/facts.js";
import { NodeLink } from "../parts/node.js";
import { State } from "../parts/state.js";
import { DataTable, withValues } from "../parts/table.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { adjacencyOf } from "./graph.js";
import { lineOf, titleOf, wordOf } from "./marks.js";

/** The overlays that are a column of the list; the others are columns already. */
const LISTED = new Set(["findings", "privacy"]);

/**
 * @typedef {import("./graph.js").GraphNode} GraphNode
 * @typedef {{node: GraphNode, side: string, distance: number, via: string}} Row
 */

/**
 * Return a row for each node: on which side of the starts it is, how far, and through what. The
 * starts come first, then what is upstream, then what is downstream, nearest first.
 * @param {import("./graph.js").Shown} shown
 * @param {string[]} starts
 * @returns {Row[]}
 */
export function rowsOf(shown, starts) {
  const nodes = new Map(shown.nodes.map((node) => [node.urn, node]));
  const { up, down } = adjacencyOf(shown.edges);
  /** @type {Row[]} */
  const rows = [];
  const listed = new Set();
  for (const urn of starts) {
    const node = nodes.get(urn);
    if (!node || listed.has(urn)) continue;
    listed.add(urn);
    rows.push({ node, side: "start", distance: 0, via: "" });
  }
  for (const [side, links] of /** @type {[string, Map<string, string[]>][]} */ ([["up", up], ["down", down]])) {
    const queue = rows.filter((row) => row.side === "start").map((row) => ({ urn: row.node.urn, distance: 0 }));
    for (const { urn, distance } of queue) {
      for (const other of [...(links.get(urn) ?? [])].sort()) {
        const node = nodes.get(other);
        if (!node || listed.has(other)) continue;
        listed.add(other);
        rows.push({ node, side, distance: distance + 1, via: urn });
        queue.push({ urn: other, distance: distance + 1 });
      }
    }
  }
  for (const node of shown.nodes) {
    if (!listed.has(node.urn)) rows.push({ node, side: "aside", distance: 0, via: "" });
  }
  return rows;
}

/**
 * @param {{shown: import("./graph.js").Shown, starts: string[], overlay: string, caption: string, select: (urn: string) => void}} properties
 */
export function ListView({ shown, starts, overlay, caption, select }) {
  const rows = rowsOf(shown, starts);
  const names = new Map(shown.nodes.map((node) => [node.urn, titleOf(node)]));
  return html`<div class="list-view">
    <${DataTable}
      caption=${caption}
      columns=${withValues(columnsOf(names, overlay, select), rows)}
      rows=${rows}
      rowKey=${(/** @type {Row} */ row) => row.node.urn}
      isStacked=${true}
      file="lineage"
    />
  </div>`;
}

/**
 * @param {Map<string, string>} names
 * @param {string} overlay
 * @param {(urn: string) => void} select
 * @returns {import("../parts/table.js").Column[]}
 */
function columnsOf(names, overlay, select) {
  const via = (/** @type {string} */ urn) => names.get(urn) ?? nodeOfUrn(urn).name;
  return [
    { title: t("explorer.list.kind"), value: (row) => t(`kind.${row.node.kind}`) },
    { title: t("explorer.list.name"), value: (row) => titleOf(row.node), cell: (row) => nameCell(row, select) },
    { title: t("explorer.list.namespace"), value: (row) => row.node.namespace },
    {
      title: t("explorer.list.state"),
      value: (row) => wordOf(row.node),
      cell: (row) => (row.node.state && !row.node.change ? html`<${State} status=${row.node.state} />` : wordOf(row.node)),
    },
    { title: t("explorer.list.side"), value: (row) => t(`explorer.side.${row.side}`) },
    { title: t("explorer.list.distance"), value: (row) => row.distance, isNumber: true },
    { title: t("explorer.list.run"), value: (row) => row.node.lastRunAt, cell: (row) => html`<${Time} at=${row.node.lastRunAt} />` },
    { title: t("explorer.list.rows"), value: (row) => row.node.rowCount, cell: (row) => (row.node.rowCount === null ? "" : count(row.node.rowCount)), isNumber: true },
    { title: t("explorer.list.owners"), value: (row) => row.node.owners?.join(", ") },
    { title: t("explorer.list.tags"), value: (row) => row.node.tags?.join(" ") },
    { title: t("explorer.list.via"), value: (row) => (row.via ? via(row.via) : ""), cell: (row) => (row.via ? html`<bdi class="name">${via(row.via)}</bdi>` : "") },
    ...(LISTED.has(overlay) ? [{ title: t(`explorer.overlay.${overlay}`), value: (/** @type {Row} */ row) => lineOf(row.node, overlay) }] : []),
  ];
}

/** @param {Row} row @param {(urn: string) => void} select */
function nameCell({ node }, select) {
  if (node.kind === "GROUP") return html`<bdi class="name" data-urn=${node.urn}>${node.name}</bdi>`;
  return html`<${NodeLink} node=${{ ...node, namespace: null }} showKind=${false} />${" "}
    <button class="plain small" aria-label=${t("explorer.list.details", { name: titleOf(node) })} onClick=${() => select(node.urn)}>
      ${t("explorer.list.more")}
    </button>`;
}

/**
 * Return the graph in one sentence: what is upstream, what is downstream, what failed, what is hidden.
 * @param {import("./graph.js").Shown} shown
 * @param {string[]} starts
 */
export function summaryOf(shown, starts) {
  const rows = rowsOf(shown, starts);
  const number = (/** @type {(row: Row) => boolean} */ test) => rows.filter(test).length;
  const parts = [
    t("explorer.sum.up", { count: count(number((row) => row.side === "up")) }),
    t("explorer.sum.down", { count: count(number((row) => row.side === "down")) }),
  ];
  const failed = number((row) => row.node.state === "FAILED");
  if (failed) parts.push(t("explorer.sum.failed", { count: count(failed) }));
  const hidden = number((row) => row.node.kind === "HIDDEN");
  if (hidden) parts.push(t("explorer.sum.hidden", { count: count(hidden) }));
  for (const change of ["added", "removed"]) {
    const changed = number((row) => row.node.change === change);
    if (changed) parts.push(t(`explorer.sum.${change}`, { count: count(changed) }));
  }
  return parts.join(", ");
}

