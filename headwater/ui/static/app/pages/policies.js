// The policies in force: how many nodes violate each, which files are broken, and the violations.
import { count, moment } from "../format.js";
import { html } from "../html.js";
import { Name, Owners, Time } from "../parts/facts.js";
import { Code, Folded } from "../parts/folded.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { useTitle } from "../parts/node_head.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { Tier } from "../parts/tier.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";

const ROWS = 50;
const ROWS_MAX = 200;

/** @typedef {import("../parts/table.js").Column} Column */
/** @typedef {import("../router.js").Place} Place */

/** @param {{place: Place}} properties */
export default function PoliciesPage({ place }) {
  const { policy = "", first = "" } = place.parameters;
  const asked = useAsk("Policies", { policy: policy || null, first: Math.min(Number(first) || ROWS, ROWS_MAX) });
  useTitle(t("policy.title"));
  const counts = asked.data?.policyViolations?.counts ?? null;
  return html`<h1>${t("policy.title")}</h1>
    <p class="soft">${t("policies.lead")}</p>
    <${Section} id="in-force" title=${t("policies.in.force")}>
      <${FieldOutcome} asked=${asked} field="policies" what=${t("policy.title")}>
        ${(/** @type {any} */ found) => html`<${InForce} found=${found} counts=${counts} chosen=${policy} />`}
      <//>
    <//>
    <${Section} id="violations" title=${policy ? t("policies.violations.of", { policy }) : t("policies.violations")}>
      <${FieldOutcome} asked=${asked} field="policyViolations" what=${t("policies.violations")}>
        ${(/** @type {any} */ found) => html`<${Violations} found=${found} place=${place} />`}
      <//>
    <//>`;
}

/** @param {{found: any, counts: any[] | null, chosen: string}} properties */
function InForce({ found, counts, chosen }) {
  const { policies, error, brokenFiles, loadedAt } = found;
  const counted = new Map((counts ?? []).map((one) => [one.policy, one]));
  const rows = policies.map((/** @type {any} */ policy) => ({ ...policy, ...(counted.get(policy.name) ?? { violations: 0, unknown: 0 }) }));
  const isKnown = (/** @type {any} */ { name }) => counts !== null && (!chosen || chosen === name);
  return html`${
    error &&
    html`<div class="message cut">
      <strong>${t("policies.broken", { count: count(brokenFiles.length) })}</strong>
      <${Folded} summary=${t("policies.broken.why")}>${() => html`<${Code} text=${error} what=${t("policies.broken.why")} />`}<//>
    </div>`
  }
  ${
    rows.length
      ? html`<${DataTable}
          caption=${t("policies.caption", { count: count(rows.length), when: loadedAt ? moment(loadedAt) : "?" })}
          columns=${policyColumns(isKnown)}
          rows=${rows}
          rowKey=${(/** @type {any} */ row) => row.name}
          detail=${(/** @type {any} */ row) => html`<${Folded} summary=${t("policies.condition")}>${() => html`<${Condition} policy=${row} />`}<//>`}
          isStacked=${true}
          file="policies"
        />`
      : html`<${Empty} title=${t("policy.empty")} hint=${t("policy.empty.hint")} />`
  }`;
}

/** @param {{policy: any}} properties */
function Condition({ policy: { description, condition, rule } }) {
  return html`${description && html`<p><bdi>${description}</bdi></p>`}
    ${rule && html`<p class="soft"><bdi>${t("policies.rule", { rule })}</bdi></p>`}
    <${Code} text=${condition} what=${t("policies.condition")} />`;
}

/**
 * @param {(policy: any) => boolean} isKnown whether the number of violations is known
 * @returns {Column[]}
 */
function policyColumns(isKnown) {
  return [
    { title: t("column.severity"), value: (row) => row.severity, cell: (row) => html`<${Tier} tier=${row.severity} />` },
    { title: t("policy.name"), value: (row) => row.name, cell: (row) => html`<${Name} text=${row.name} /> <div class="soft"><bdi>${row.title}</bdi></div>` },
    { title: t("policies.on"), value: (row) => row.on.join(", ") },
    { title: t("policy.enforce"), value: (row) => t(`policy.enforce.${row.enforce}`) },
    { title: t("policies.violated"), value: (row) => (isKnown(row) ? row.violations : null), cell: (row) => isKnown(row) && html`<${ViolationCount} policy=${row} />` },
    { title: t("policies.unknown"), value: (row) => (isKnown(row) ? row.unknown : null), cell: (row) => isKnown(row) && count(row.unknown), isNumber: true },
    { title: t("column.owners"), value: (row) => row.owners.join(", "), cell: (row) => html`<${Owners} names=${row.owners} />` },
    { title: t("policies.file"), value: (row) => row.file, cell: (row) => html`<${Name} text=${row.file} />` },
  ];
}

/** @param {{policy: any}} properties */
function ViolationCount({ policy: { name, violations } }) {
  const state = html`<${State} status=${violations ? "FAIL" : "COMPLETE"} word=${count(violations)} />`;
  if (!violations) return state;
  return html`<a href=${hrefOf("policies", "", { policy: name })} aria-label=${t("policies.show", { count: count(violations), name })}>${state}</a>`;
}

/** @param {{found: any, place: Place}} properties */
function Violations({ found: { note, nodes, totalCount }, place }) {
  const { policy } = place.parameters;
  const more = hrefOf("policies", "", { ...place.parameters, first: Math.min(nodes.length * 2, ROWS_MAX) });
  return html`${note && html`<div class="message cut"><bdi>${note}</bdi></div>`}
    ${policy && html`<p><a href=${hrefOf("policies")}>${t("policies.all")}</a></p>`}
    ${
      nodes.length
        ? html`<${DataTable}
            caption=${t("cut.title", { shown: count(nodes.length), total: count(totalCount) })}
            columns=${violationColumns()}
            rows=${nodes}
            rowKey=${(/** @type {any} */ row) => `${row.policy} ${row.urn}`}
            isStacked=${true}
            file="policy-violations"
          />`
        : html`<${Empty} title=${t("policies.none")} />`
    }
    ${
      totalCount > nodes.length &&
      html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)}>
        ${nodes.length < ROWS_MAX && html`<button onClick=${() => go(more, { replace: true })}>${t("findings.more")}</button>`}
      <//>`
    }`;
}

/** @returns {Column[]} */
function violationColumns() {
  const word = (/** @type {any} */ row) => t(row.unknown ? "policy.unknown" : "policy.violated");
  return [
    { title: t("column.severity"), value: (row) => row.severity, cell: (row) => html`<${Tier} tier=${row.severity} />` },
    { title: t("policy.name"), value: (row) => row.policy, cell: (row) => html`<${Name} text=${row.policy} />` },
    { title: t("column.node"), value: (row) => row.urn, cell: (row) => html`<${NodeLink} node=${nodeOfUrn(row.urn)} />` },
    { title: t("column.state"), value: word, cell: (row) => html`<${State} status=${row.unknown ? null : "FAIL"} word=${word(row)} />` },
    { title: t("policy.message"), value: (row) => row.unknown ?? row.message, cell: (row) => html`<bdi>${row.unknown ?? row.message}</bdi>` },
    { title: t("policy.since"), value: (row) => row.since, cell: (row) => html`<${Time} at=${row.since} />` },
    { title: t("column.owners"), value: (row) => row.owners.join(", "), cell: (row) => html`<${Owners} names=${row.owners} />` },
  ];
}
