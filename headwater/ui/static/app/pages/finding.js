// One finding: what is wrong, since when, what shows it, what caused it, whom it affects, what to do.
import { count } from "../format.js";
import { html } from "../html.js";
import { EvidenceView } from "../parts/evidence.js";
import { Facts, Owners, Time } from "../parts/facts.js";
import { Subject, affectedText, findingHref } from "../parts/findings.js";
import { Cut, Empty, SingleOutcome } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { useTitle } from "../parts/node_head.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { Tier } from "../parts/tier.js";
import { TimeChart } from "../parts/time_chart.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";

const GROUP = 50;
const SERIES = 60;
const URN = /^(dataset|job|run|artifact|source|answer|column):\S+$/;
/** What of the history a rule compares: the text of its chart. */
const CHARTS = /** @type {Record<string, string>} */ ({
  "row-count": "finding.series.rows",
  duration: "finding.series.duration",
});

/** @param {{place: import("../router.js").Place}} properties */
export default function FindingPage({ place }) {
  const id = place.parameters.id ?? "";
  return html`<${Asked} key=${id} id=${id} />`;
}

/** @param {{id: string}} properties */
function Asked({ id }) {
  const asked = useAsk("Finding", { id });
  const missing = html`<${Missing} id=${id} />`;
  return html`<${SingleOutcome} asked=${asked} found=${asked.data?.finding} what=${t("finding.kind")} missing=${missing}>
    ${(/** @type {any} */ finding) => html`<${Whole} finding=${finding} />`}
  <//>`;
}

/** @param {{id: string}} properties */
function Missing({ id }) {
  useTitle(t("finding.missing"));
  return html`<h1>${t("finding.missing")}</h1>
    <${Empty} title=${id} hint=${t("finding.missing.hint")}>
      <p><a href=${hrefOf("findings")}>${t("finding.all")}</a></p>
    <//>`;
}

/** @param {{finding: any}} properties */
function Whole({ finding }) {
  useTitle(finding.title);
  const isOpen = finding.resolvedAt === null;
  return html`<nav class="crumbs" aria-label=${t("head.crumbs")}>
      <ol>
        <li><a href="/">${t("head.home")}</a></li>
        <li><a href=${hrefOf("findings")}>${t("findings.title")}</a></li>
        <li aria-current="page">${t("finding.kind")}</li>
      </ol>
    </nav>
    <header class="node-head" data-finding=${finding.id}>
      <div class="node-title"><h1>${finding.title}</h1> <${Tier} tier=${finding.severity} /></div>
      <p class="finding-node">${finding.node ? html`<${NodeLink} node=${finding.node} />` : html`<${Subject} urn=${finding.urn} />`}</p>
      <${Facts}
        facts=${[
          [t("findings.state"), isOpen ? t("finding.open") : t("finding.resolved")],
          [t("finding.since"), html`<${Time} at=${finding.firstSeen} />`],
          [isOpen ? t("finding.seen") : t("finding.ended"), html`<${Time} at=${isOpen ? finding.lastSeen : finding.resolvedAt} />`],
          [t("finding.ended.by"), finding.resolvedBy && html`<${ResolvedBy} by=${finding.resolvedBy} />`],
          [t("part.owners"), html`<${Owners} names=${finding.owners} />`],
          [t("finding.rule"), html`<a href=${hrefOf("findings", "", { rule: finding.rule })}>${finding.rule}</a>`],
        ]}
      />
      <p class="actions">
        <a class="button" href=${finding.runbook} rel="external" target="_blank">${t("finding.runbook")}</a>
        ${finding.node && html`<a href=${hrefOf("lineage", "", { urn: finding.urn, overlay: "findings" })}>${t("head.lineage")}</a>`}
      </p>
    </header>
    <${Section} id="evidence" title=${t("finding.evidence")}>
      <${EvidenceView} evidence=${finding.evidence} />
      ${finding.rule in CHARTS && finding.node && html`<${Series} finding=${finding} />`}
    <//>
    <${Section} id="causes" title=${t("finding.causes")}><${Causes} finding=${finding} /><//>
    <${Section} id="affected" title=${t("finding.affected")}><${AffectedNodes} affected=${finding.affected} /><//>`;
}

/** @param {{by: string}} properties */
function ResolvedBy({ by }) {
  return URN.test(by) || by.startsWith("hidden:") ? html`<${NodeLink} node=${nodeOfUrn(by)} />` : html`<bdi>${by}</bdi>`;
}

/** @param {{finding: any}} properties */
function Causes({ finding }) {
  const { id, root, cause } = finding;
  const isShown = Boolean(cause) || root === id;
  const group = { root: cause ? root : id, first: GROUP };
  const asked = useAsk(isShown ? "FindingGroup" : null, group);
  if (!isShown) return html`<p>${t("finding.causes.hidden")}</p>`;
  return html`${cause ? html`<h3>${t("finding.causes.by")}</h3><ul class="rows"><li><${Short} finding=${cause} /></li></ul>` : html`<p class="soft">${t("finding.causes.own")}</p>`}
    <${FieldOutcome} asked=${asked} field="findings" what=${t("finding.causes")}>
      ${(/** @type {any} */ { nodes, totalCount }) => {
        const others = nodes.filter((/** @type {any} */ one) => one.id !== id && one.id !== cause?.id);
        if (!others.length) return null;
        const words = cause ? "finding.causes.siblings" : "finding.causes.of";
        return html`<h3>${t(words, { count: count(totalCount - (nodes.length - others.length)) })}</h3>
          <ul class="rows">${others.map((/** @type {any} */ one) => html`<li key=${one.id}><${Short} finding=${one} /></li>`)}</ul>
          ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)}><a href=${hrefOf("findings", "", { root, state: "all" })}>${t("findings.more")}</a><//>`}`;
      }}
    <//>`;
}

/** @param {{finding: any}} properties */
function Short({ finding }) {
  return html`<${Tier} tier=${finding.severity} /> <a href=${findingHref(finding.id)}>${finding.title}</a>${" "}
    <${Subject} urn=${finding.urn} />${" "}
    <span class="soft">${finding.resolvedAt ? t("finding.resolved") : t("finding.open")} <${Time} at=${finding.resolvedAt ?? finding.firstSeen} /></span>`;
}

/** @param {{affected: any}} properties */
function AffectedNodes({ affected }) {
  const { consumers } = affected;
  const total = affected.answers + affected.datasets + affected.jobs;
  if (!total && !consumers.length) return html`<${Empty} title=${t("finding.affected.none")} />`;
  return html`<p><strong>${affectedText(affected)}</strong></p>
    ${
      consumers.length > 0 &&
      html`<${DataTable}
        caption=${t("finding.affected.caption", { shown: count(consumers.length), total: count(total) })}
        columns=${consumerColumns()}
        rows=${consumers}
        rowKey=${(/** @type {any} */ row) => row.urn}
        isStacked=${true}
        file="affected"
      />`
    }`;
}

/** @returns {import("../parts/table.js").Column[]} */
function consumerColumns() {
  const link = (/** @type {any} */ row) => html`<${NodeLink} node=${row.node ?? nodeOfUrn(row.urn)} />`;
  return [
    { title: t("column.consumer"), value: (row) => row.node?.name ?? row.urn, cell: link },
    { title: t("column.critical"), value: (row) => (row.isCritical ? t("finding.affected.critical") : "") },
    { title: t("column.tell"), value: (row) => row.owners.join(", "), cell: (row) => html`<${Owners} names=${row.owners} />` },
  ];
}

/**
 * The history of the number that the rule compares, as a chart.
 * @param {{finding: any}} properties
 */
function Series({ finding }) {
  const words = CHARTS[finding.rule];
  const variables = { urn: finding.urn, first: SERIES };
  const isJob = finding.urn.startsWith("job:");
  const isDataset = !isJob;
  const runs = useAsk(isJob ? "FindingRuns" : null, variables);
  const versions = useAsk(isDataset ? "FindingVersions" : null, variables);
  const points = pointsOf(runs.data ?? versions.data);
  if (points.length < 2) return null;
  const series = [{ label: t(words), color: "complete", values: points.map(({ value }) => value) }];
  return html`<figure><figcaption class="soft">${t(words)}</figcaption>
    <${TimeChart} label=${t(words)} times=${points.map(({ seconds }) => seconds)} series=${series} format=${(/** @type {number} */ value) => count(value)} />
  </figure>`;
}

/**
 * Return the numbers of an answer with their times, oldest first.
 * @param {any} data
 * @returns {{seconds: number, value: number}[]}
 */
export function pointsOf(data) {
  const versions = data?.dataset?.versions.nodes.map((/** @type {any} */ one) => ({ at: one.createdAt, value: one.rowCount }));
  const runs = data?.job?.runs.nodes.map((/** @type {any} */ one) => ({ at: one.startedAt, value: one.durationSeconds }));
  return (versions ?? runs ?? [])
    .filter((/** @type {any} */ { at, value }) => at && value !== null)
    .map((/** @type {any} */ { at, value }) => ({ seconds: Date.parse(at) / 1000, value: Number(value) }))
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.seconds - b.seconds);
}
