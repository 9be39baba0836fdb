// The panel beside the graph: what is known of the chosen node or edge, and where to go from it.
import { count } from "../format.js";
import { html, useEffect, useRef } from "../html.js";
import { Copy } from "../parts/copy.js";
import { Facts, Owners, Time } from "../parts/facts.js";
import { NameText } from "../parts/name.js";
import { NodeLink, Tags } from "../parts/node.js";
import { State } from "../parts/state.js";
import { Tier } from "../parts/tier.js";
import { hrefOf, hrefOfNode } from "../router.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { DEPTH_MAX, centredAt, hrefOfView, sideOf } from "./address.js";
import { privacyOf, titleOf } from "./marks.js";

const MEMBERS_SHOWN = 20;
const PAGES = new Set(["DATASET", "JOB", "PIPELINE_RUN", "ANSWER", "ARTIFACT", "SOURCE"]);

/**
 * @typedef {import("./address.js").View} View
 * @typedef {import("./graph.js").GraphNode} GraphNode
 */

/**
 * @param {{
 *   node: GraphNode, view: View, shown: import("./graph.js").Shown, starts: string[],
 *   toggle: (urn: string, side: import("./address.js").Side) => void, close: () => void,
 *   apart: (urn: string) => void, isDrawn: boolean
 * }} properties
 */
export function Panel({ node, view, shown, starts, toggle, close, apart, isDrawn }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.scrollIntoView({ block: "nearest" }), [node.urn]);
  return html`<aside class="side-panel" aria-label=${t("explorer.panel")} data-panel=${node.urn}>
    <div class="section-head">
      <p class="kind" ref=${heading}>${t(`kind.${node.kind}`)}</p>
      <button class="plain small" onClick=${close} aria-label=${t("explorer.panel.close")}>✕</button>
    </div>
    <h2 class="name"><${NameText} text=${titleOf(node)} /></h2>
    ${node.namespace && html`<p class="namespace"><bdi>${node.namespace}</bdi></p>`}
    ${node.state && html`<p><${State} status=${node.state} /> <${Time} at=${node.stateSince} /></p>`}
    ${node.change && node.change !== "same" && html`<p><strong>${t(`explorer.change.${node.change}`)}</strong></p>`}
    ${node.kind === "HIDDEN" && html`<p>${t("hidden.hint")}</p>`}
    <${NodeFacts} node=${node} />
    ${node.members && html`<${Members} members=${node.members} open=${() => apart(node.urn)} />`}
    ${!node.members && node.kind !== "HIDDEN" && html`<${Ways} node=${node} view=${view} starts=${starts} />`}
    ${!node.members && isDrawn && html`<${Sides} urn=${node.urn} shown=${shown} toggle=${toggle} />`}
    ${!node.members && html`<p><${Copy} text=${node.urn} what=${t("head.urn")} /></p>`}
  </aside>`;
}

/** @param {{node: GraphNode}} properties */
function NodeFacts({ node }) {
  const known = (/** @type {number | null | undefined} */ number) =>
    number === null || number === undefined ? null : count(number);
  return html`<${Facts}
    facts=${[
      [t("explorer.fact.cause"), node.stateCause && html`<${NodeLink} node=${nodeOfUrn(node.stateCause)} />`],
      [t("explorer.fact.run"), node.lastRunAt && html`<${LastRun} at=${node.lastRunAt} id=${node.lastRunId} />`],
      [t("explorer.fact.updated"), node.updatedAt && html`<${Time} at=${node.updatedAt} />`],
      [t("part.type"), node.type],
      [t("explorer.fact.rows"), known(node.rowCount)],
      [t("explorer.fact.columns"), known(node.columnCount)],
      [t("explorer.fact.checks"), known(node.failedChecks)],
      [t("findings.title"), node.findingTier && html`<${OpenFindings} node=${node} />`],
      [t("privacy.title"), node.personalData && html`<bdi>${privacyOf(node)}</bdi>`],
      [t("explorer.fact.upstream"), known(node.upstreamCount)],
      [t("explorer.fact.downstream"), known(node.downstreamCount)],
      [t("part.owners"), node.owners && html`<${Owners} names=${node.owners} />`],
      [t("part.tags"), node.tags?.length ? html`<${Tags} names=${node.tags} />` : null],
    ]}
  />`;
}

/** @param {{node: GraphNode}} properties */
function OpenFindings({ node }) {
  const words = t("findings.open.number", { count: count(node.openFindings) });
  return html`<${Tier} tier=${node.findingTier} /> <a href=${hrefOf("findings", "", { urn: node.urn })}>${words}</a>`;
}

/** @param {{at: string, id: string | null}} properties */
function LastRun({ at, id }) {
  const time = html`<${Time} at=${at} />`;
  return id ? html`<a href=${hrefOf("runs", id)}>${time}</a>` : time;
}

/** @param {{members: GraphNode[], open: () => void}} properties */
function Members({ members, open }) {
  return html`<p><button class="primary" onClick=${open}>${t("explorer.group.open")}</button></p>
    <ul class="rows">
      ${members.slice(0, MEMBERS_SHOWN).map((node) => html`<li key=${node.urn}><${NodeLink} node=${node} /></li>`)}
    </ul>
    <p class="soft">${t("cut.title", { shown: count(Math.min(members.length, MEMBERS_SHOWN)), total: count(members.length) })}</p>`;
}

/** @param {{node: GraphNode, view: View, starts: string[]}} properties */
function Ways({ node, view, starts }) {
  const centred = centredAt(view, node.urn);
  const isStart = starts.includes(node.urn);
  const isTable = node.kind === "DATASET";
  const hasRuns = isTable || node.kind === "JOB";
  const links = /** @type {[string, string][]} */ ([
    PAGES.has(node.kind) && [t("explorer.way.page"), hrefOfNode(node)],
    node.urn !== view.urn && [t("explorer.way.centre"), hrefOfView(centred)],
    [t("explorer.way.blast"), hrefOfView({ ...centred, direction: "DOWNSTREAM", depth: DEPTH_MAX })],
    [t("explorer.way.sources"), hrefOfView({ ...centred, direction: "UPSTREAM", depth: DEPTH_MAX })],
    !isStart && [t("explorer.way.path"), hrefOfView({ ...view, to: node.urn, selected: "" })],
    isTable && [t("explorer.way.columns"), hrefOfView({ ...centred, level: "COLUMN" })],
    hasRuns && [t("explorer.way.runs"), hrefOfView({ ...centred, level: "RUN" })],
  ].filter(Boolean));
  return html`<ul class="ways">
    ${links.map(([text, href]) => html`<li key=${text}><a href=${href}>${text}</a></li>`)}
  </ul>`;
}

/**
 * @param {{urn: string, shown: import("./graph.js").Shown, toggle: (urn: string, side: import("./address.js").Side) => void}} properties
 */
function Sides({ urn, shown, toggle }) {
  const more = shown.more.get(urn);
  const button = (/** @type {import("./address.js").Side} */ side) => {
    const hidden = more?.[side] ?? 0;
    if (hidden) {
      return html`<button onClick=${() => toggle(urn, side)}>${t(`explorer.open.${side}`, { count: count(hidden) })}</button>`;
    }
    if (!shown.open.has(sideOf(urn, side))) return "";
    return html`<button onClick=${() => toggle(urn, side)}>${t(`explorer.fold.${side}`)}</button>`;
  };
  return html`<p class="actions">${button("up")} ${button("down")}</p>`;
}

/** @param {{edge: import("./graph.js").GraphEdge, graph: import("./graph.js").Graph, close: () => void}} properties */
export function EdgePanel({ edge, graph, close }) {
  const nodeOf = (/** @type {string} */ urn) => graph.nodes.get(urn) ?? nodeOfUrn(urn);
  return html`<aside class="side-panel" aria-label=${t("explorer.panel")}>
    <div class="section-head">
      <p class="kind">${t("explorer.edge")}</p>
      <button class="plain small" onClick=${close} aria-label=${t("explorer.panel.close")}>✕</button>
    </div>
    <${Facts}
      facts=${[
        [t("explorer.edge.from"), html`<${NodeLink} node=${nodeOf(edge.source)} />`],
        [t("explorer.edge.to"), html`<${NodeLink} node=${nodeOf(edge.target)} />`],
        [t("part.type"), t(`explorer.edge.${edge.type}`)],
        [t("explorer.edge.kinds"), edge.kinds?.join(", ")],
        [t("explorer.edge.jobs"), edge.jobs?.length ? edge.jobs.map((urn) => html`<${NodeLink} key=${urn} node=${nodeOf(urn)} />`) : null],
        [t("explorer.edge.count"), (edge.count ?? 0) > 1 ? count(edge.count) : null],
        [t("explorer.edge.change"), edge.change && edge.change !== "same" ? t(`explorer.change.${edge.change}`) : null],
      ]}
    />
  </aside>`;
}

