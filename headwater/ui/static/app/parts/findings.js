// Findings as a table, on their own page and on the pages of nodes.
import { count } from "../format.js";
import { html } from "../html.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";
import { Owners, Time } from "./facts.js";
import { Empty } from "./messages.js";
import { NodeLink } from "./node.js";
import { FieldOutcome, Section, useSeen } from "./section.js";
import { DataTable, withValues } from "./table.js";
import { Tier } from "./tier.js";

const SHOWN = 20;

/**
 * Return who is affected, in words: "2 answers, 1 critical".
 * @param {any} affected
 */
export function affectedText(affected) {
  const kinds = ["answers", "critical", "datasets", "jobs"].filter((kind) => affected[kind] > 0);
  const text = kinds.map((kind) => t(`findings.affected.${kind}`, { count: count(affected[kind]) })).join(", ");
  if (!text) return t("findings.affected.none");
  return affected.truncated ? t("findings.affected.over", { text }) : text;
}

/** @param {string} id */
export const findingHref = (id) => hrefOf("finding", "", { id });

/**
 * A node of which a finding knows the urn only; a producer of events has no page.
 * @param {{urn: string}} properties
 */
export function Subject({ urn }) {
  if (urn.startsWith("producer:")) return html`<bdi class="name">${decoded(urn.slice("producer:".length))}</bdi>`;
  return html`<${NodeLink} node=${nodeOfUrn(urn)} />`;
}

/**
 * @param {{caption: string, findings: any[], hasNode?: boolean, file?: string}} properties
 * `hasNode`: whether the node of each finding is shown; not on the page of the node.
 */
export function FindingTable({ caption, findings, hasNode = true, file = "findings" }) {
  const columns = findingColumns().filter(({ title }) => hasNode || title !== t("column.node"));
  return html`<${DataTable}
    caption=${caption}
    columns=${withValues(columns, findings)}
    rows=${findings}
    rowKey=${(/** @type {any} */ finding) => finding.id}
    isStacked=${true}
    file=${file}
  />`;
}

/** @returns {import("./table.js").Column[]} */
function findingColumns() {
  const link = (/** @type {any} */ { id, title }) => html`<a href=${findingHref(id)}>${title}</a>`;
  return [
    { title: t("column.tier"), value: (one) => one.severity, cell: (one) => html`<${Tier} tier=${one.severity} />` },
    { title: t("column.problem"), value: (one) => one.title, cell: link },
    { title: t("column.node"), value: (one) => one.urn, cell: (one) => html`<${Subject} urn=${one.urn} />` },
    { title: t("column.since"), value: (one) => one.firstSeen, cell: (one) => html`<${Time} at=${one.firstSeen} />` },
    { title: t("column.resolved"), value: (one) => one.resolvedAt, cell: (one) => html`<${Time} at=${one.resolvedAt} />` },
    { title: t("column.affected"), value: (one) => affectedText(one.affected) },
    { title: t("column.owners"), value: (one) => one.owners.join(", "), cell: (one) => html`<${Owners} names=${one.owners} />` },
  ];
}

/**
 * The section of findings on the page of a node.
 * @param {{urn: string}} properties
 */
export function NodeFindings({ urn }) {
  const asked = useAsk("Findings", { urn, first: SHOWN });
  return html`<${Section} id="findings" title=${t("findings.title")}>
    <${FieldOutcome} asked=${asked} field="findings" what=${t("findings.title")}>
      ${(/** @type {any} */ { nodes, totalCount }) => {
        if (!nodes.length) return html`<${Empty} title=${t("findings.none.node")} />`;
        const ordered = openFirst(nodes);
        return html`<${FindingTable} caption=${caption(ordered)} findings=${ordered} hasNode=${false} />
          ${totalCount > nodes.length && html`<p><a href=${hrefOf("findings", "", { urn, state: "all" })}>${t("findings.all", { count: count(totalCount) })}</a></p>`}`;
      }}
    <//>
  <//>`;
}

/**
 * The findings that name a run: on its job, its outputs and its inputs.
 * @param {{run: any}} properties
 */
export function RunFindings({ run }) {
  const later = useSeen();
  const asked = useAsk(later.isSeen ? "RunFindings" : null, { urn: run.urn });
  return html`<${Section} id="findings" title=${t("findings.title")} later=${later}>
    <${FieldOutcome} asked=${asked} field="node" what=${t("findings.title")}>
      ${(/** @type {any} */ node) => {
        const found = findingsNaming(run.urn, [node.job, ...node.outputs, ...node.inputs]);
        if (!found.length) return html`<${Empty} title=${t("findings.none.run")} />`;
        return html`<${FindingTable} caption=${caption(found)} findings=${found} />`;
      }}
    <//>
  <//>`;
}

/**
 * Return the findings of nodes that name a run, or a version that it wrote, open ones first.
 * @param {string} run the urn of the run
 * @param {any[]} nodes
 */
export function findingsNaming(run, nodes) {
  const id = run.slice("run:".length);
  const found = nodes.flatMap((node) => node?.findings ?? []);
  const named = found.filter((finding) => {
    const text = JSON.stringify([finding.id, finding.resolvedBy, finding.evidence]);
    return new RegExp(`[:@]${escaped(id)}(?![\\w-])`).test(text);
  });
  return openFirst([...new Map(named.map((finding) => [finding.id, finding])).values()]);
}

/** @param {string} text */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** @param {any[]} findings */
function openFirst(findings) {
  const key = (/** @type {any} */ { resolvedAt, severity }) => `${resolvedAt ? 1 : 0}${severity}`;
  return [...findings].sort((a, b) => key(a).localeCompare(key(b)));
}

/** @param {any[]} findings */
function caption(findings) {
  return t("findings.open.number", { count: count(findings.filter(({ resolvedAt }) => !resolvedAt).length) });
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
