// The policies that a dataset violates, what to do, and what people approved nevertheless.
import { count } from "../format.js";
import { html } from "../html.js";
import { EvidenceView } from "../parts/evidence.js";
import { Facts, Name, Owners, Time } from "../parts/facts.js";
import { Folded } from "../parts/folded.js";
import { Cut, Empty } from "../parts/messages.js";
import { FieldFailure, FieldOutcome, Section, useSeen } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { Tier } from "../parts/tier.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const SHOWN = 50;
const RUNBOOK = "/runbooks/policy-violation";

/** @param {{urn: string}} properties */
export function Policies({ urn }) {
  const later = useSeen();
  const { isSeen } = later;
  const asked = useAsk(isSeen ? "DatasetPolicies" : null, { urn, first: SHOWN });
  return html`<${Section} id="policies" title=${t("policy.title")} note=${html`<a href=${hrefOf("policies")}>${t("policies.all")}</a>`} later=${later}>
    <${FieldOutcome} asked=${asked} field="policyViolations" what=${t("policy.title")}>
      ${(/** @type {any} */ found) => html`<${Violations} found=${found} policies=${asked.data.policies?.policies ?? []} />`}
    <//>
    <${FieldFailure} asked=${asked} field="policies" />
    ${asked.data?.dataset && html`<h3>${t("approvals.title")}</h3><${Approvals} approvals=${asked.data.dataset.approvals} />`}
  <//>`;
}

/** @param {{found: any, policies: any[]}} properties */
function Violations({ found, policies }) {
  const { note, nodes, totalCount } = found;
  return html`${note && html`<div class="message cut"><bdi>${note}</bdi></div>`}
    ${nodes.length ? html`<${Table} violations=${nodes} policies=${policies} />` : html`<${Nothing} policies=${policies} />`}
    ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}`;
}

/** @param {{policies: any[]}} properties */
function Nothing({ policies }) {
  if (!policies.length) return html`<${Empty} title=${t("policy.empty")} hint=${t("policy.empty.hint")} />`;
  return html`<${Empty} title=${t("policy.none")} hint=${t("policy.none.hint", { count: count(policies.length) })} />`;
}

/** @param {{violations: any[], policies: any[]}} properties */
function Table({ violations, policies }) {
  const known = new Map(policies.map((policy) => [policy.name, policy]));
  const rows = violations.map((violation) => ({ ...violation, about: known.get(violation.policy) ?? null }));
  const unknown = rows.filter((row) => row.unknown).length;
  return html`<${DataTable}
    caption=${t("policy.caption", { violated: count(rows.length - unknown), unknown: count(unknown) })}
    columns=${tableColumns()}
    rows=${rows}
    rowKey=${(/** @type {any} */ row) => row.policy}
    detail=${(/** @type {any} */ row) => html`<${Folded} summary=${t("policy.details")}>${() => html`<${Details} row=${row} />`}<//>`}
    isStacked=${true}
    file="policy-violations"
  />`;
}

/** @returns {import("../parts/table.js").Column[]} */
function tableColumns() {
  return [
    { title: t("column.severity"), value: (row) => row.severity, cell: (row) => html`<${Tier} tier=${row.severity} />` },
    { title: t("policy.name"), value: (row) => row.policy, cell: (row) => html`<${Name} text=${row.policy} />` },
    { title: t("column.state"), value: wordOf, cell: (row) => html`<${State} status=${row.unknown ? null : "FAIL"} word=${wordOf(row)} />` },
    { title: t("policy.message"), value: (row) => row.unknown ?? row.message, cell: (row) => html`<bdi>${row.unknown ?? row.message}</bdi>` },
    { title: t("policy.fix"), value: fixOf, cell: (row) => html`<bdi>${fixOf(row)}</bdi> <a href=${RUNBOOK} target="_blank">${t("policy.runbook")}</a>` },
    { title: t("policy.since"), value: (row) => row.since, cell: (row) => html`<${Time} at=${row.since} />` },
    { title: t("policy.enforce"), value: (row) => t(`policy.enforce.${row.enforce}`) },
  ];
}

/** @param {any} row */
function wordOf({ unknown }) {
  return t(unknown ? "policy.unknown" : "policy.violated");
}

/** The ready-made rules that have a text of what to do. */
const FIXES = new Set([
  "required-owners",
  "required-description",
  "certified-inputs",
  "prefer-certified",
  "allowed-flows",
  "masked-personal-data",
  "no-deprecated-sources",
  "retention",
]);

/**
 * Return what ends a violation: by the ready-made rule, or else by the owners of the policy.
 * @param {{about: {rule: string | null, owners: string[]} | null}} row
 */
export function fixOf({ about }) {
  if (about?.rule && FIXES.has(about.rule)) return t(`policy.fix.${about.rule}`);
  return about?.owners.length ? t("policy.fix.own", { owners: about.owners.join(", ") }) : t("policy.fix.other");
}

/** @param {{row: any}} properties */
function Details({ row: { about, evidence, notify } }) {
  return html`${about?.title && html`<p><strong><bdi>${about.title}</bdi></strong></p>`}
    ${about?.description && html`<p><bdi>${about.description}</bdi></p>`}
    <${Facts}
      facts=${[
        [t("policy.owners"), about?.owners.length > 0 && html`<${Owners} names=${about.owners} />`],
        [t("policy.notify"), notify.length > 0 && html`<${Owners} names=${notify} />`],
      ]}
    />
    <${EvidenceView} evidence=${evidence ?? {}} />`;
}

/** @param {{approvals: any[]}} properties */
function Approvals({ approvals }) {
  if (!approvals.length) return html`<p class="soft">${t("approvals.none")}</p>`;
  const active = approvals.filter((one) => one.active).length;
  const rows = approvals.map((one, index) => ({ ...one, key: index }));
  return html`<${DataTable}
    caption=${t("approvals.caption", { count: count(approvals.length), active: count(active) })}
    columns=${approvalColumns()}
    rows=${rows}
    rowKey=${(/** @type {any} */ row) => row.key}
    isStacked=${true}
    file="approvals"
  />`;
}

/** @returns {import("../parts/table.js").Column[]} */
function approvalColumns() {
  const text = (/** @type {string | null} */ value) => html`<${Name} text=${value} />`;
  const word = (/** @type {any} */ row) => t(row.active ? "approvals.active" : "approvals.ended");
  return [
    { title: t("column.state"), value: word, cell: (row) => html`<${State} status=${row.active ? "COMPLETE" : null} word=${word(row)} />` },
    { title: t("policy.name"), value: (row) => row.policy, cell: (row) => text(row.policy) },
    { title: t("approvals.reason"), value: (row) => row.reason, cell: (row) => html`<bdi>${row.reason}</bdi>` },
    { title: t("column.by"), value: (row) => row.by ?? t("edit.nobody"), cell: (row) => text(row.by ?? t("edit.nobody")) },
    { title: t("column.approved"), value: (row) => row.at, cell: (row) => html`<${Time} at=${row.at} />` },
    { title: t("approvals.until"), value: (row) => row.until ?? t("approvals.forever") },
  ];
}
