// The open findings by their cause: what the alerts say, with what each cause explains.
import { count } from "../format.js";
import { html } from "../html.js";
import { Owners, Time } from "../parts/facts.js";
import { Subject, findingHref } from "../parts/findings.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { Tier } from "../parts/tier.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";

const ALERTS = 40;
const CONSEQUENCES = 5;
const CONSUMERS = 3;

/** @param {{namespace: string | null}} properties */
export function Alerts({ namespace }) {
  const asked = useAsk("OnCallAlerts", { namespace, first: ALERTS });
  const all = html`<a href=${hrefOf("findings", "", { namespace })}>${t("oncall.alerts.all")}</a>`;
  return html`<${Section} id="alerts" title=${t("oncall.alerts")} note=${all}>
    <${FieldOutcome} asked=${asked} field="alerts" what=${t("oncall.alerts")}>
      ${(/** @type {any} */ { nodes, totalCount }) =>
        nodes.length
          ? html`<${DataTable}
                caption=${t("oncall.alerts.caption", { count: count(totalCount) })}
                columns=${columns()}
                rows=${nodes}
                rowKey=${(/** @type {any} */ alert) => alert.key}
                isStacked=${true}
                file="alerts"
              />
              ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}`
          : html`<${Empty} title=${t("oncall.alerts.none")} hint=${t("findings.none.hint")} />`}
    <//>
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function columns() {
  return [
    { title: t("column.tier"), value: (alert) => alert.tier, cell: tierCell },
    { title: t("column.problem"), value: (alert) => alert.title, cell: problemCell },
    { title: t("column.since"), value: (alert) => alert.since, cell: (alert) => html`<${Time} at=${alert.since} />` },
    { title: t("column.affected"), value: (alert) => alert.consumers.length + alert.moreConsumers, cell: affectedCell },
    { title: t("column.tell"), value: (alert) => alert.owners.join(", "), cell: (alert) => html`<${Owners} names=${alert.owners} />` },
    { title: t("oncall.alerts.do"), value: (alert) => alert.findings[0].runbook, cell: runbookCell },
  ];
}

/** @param {any} alert */
function tierCell({ tier, status }) {
  return html`<${Tier} tier=${tier} />${status === "WAITING" && html`<div class="soft">${t("oncall.alerts.waiting")}</div>`}`;
}

/** @param {any} alert */
function problemCell({ title, findings }) {
  const [cause, ...others] = findings;
  const open = others.filter((/** @type {any} */ one) => !one.resolvedAt);
  const shown = open.slice(0, CONSEQUENCES);
  return html`<a href=${findingHref(cause.id)}><bdi class="name">${title}</bdi></a>
    ${shown.map(
      (/** @type {any} */ one) => html`<div key=${one.id} class="consequence">
        <a href=${findingHref(one.id)}>${one.title}</a> <${Subject} urn=${one.urn} />
      </div>`,
    )}
    ${open.length > shown.length && html`<div class="soft">${t("oncall.alerts.others", { count: count(open.length - shown.length) })}</div>`}`;
}

/** @param {any} alert */
function affectedCell({ consumers, moreConsumers }) {
  if (!consumers.length) return html`<span class="soft">${t("findings.affected.none")}</span>`;
  const shown = consumers.slice(0, CONSUMERS);
  const more = consumers.length - shown.length + moreConsumers;
  return html`${shown.map((/** @type {any} */ one) => html`<div key=${one.urn}><${NodeLink} node=${nodeOfUrn(one.urn)} /></div>`)}
    ${more > 0 && html`<div class="soft">${t("oncall.alerts.more", { count: count(more) })}</div>`}`;
}

/** @param {any} alert */
function runbookCell({ findings }) {
  return html`<a href=${findings[0].runbook} rel="external" target="_blank">${findings[0].rule}</a>`;
}
