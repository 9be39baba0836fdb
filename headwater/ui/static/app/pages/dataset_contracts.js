// The data contracts of a dataset: promises kept and broken, who broke them, what versions changed.
import { count } from "../format.js";
import { html } from "../html.js";
import { Facts, Name, NodeList, Owners, Time } from "../parts/facts.js";
import { Folded } from "../parts/folded.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section, useSeen } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable, withValues } from "../parts/table.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const SHOWN = 20;
/** A sign of each change, beside its word. */
const SIGNS = { added: "+", removed: "−", changed: "±" };
const STATUS = /** @type {Record<string, string | null>} */ ({ KEPT: "COMPLETE", VIOLATED: "FAIL", UNKNOWN: null });

/** @typedef {import("../parts/table.js").Column} Column */
/** @typedef {import("../router.js").Place} Place */

/** @param {{urn: string, place: Place}} properties */
export function Contracts({ urn, place }) {
  const later = useSeen();
  const { isSeen } = later;
  const asked = useAsk(isSeen ? "DatasetContracts" : null, { urn, first: SHOWN });
  return html`<${Section} id="contracts" title=${t("contract.title")} later=${later}>
    <${FieldOutcome} asked=${asked} field="contracts" what=${t("contract.title")}>
      ${(/** @type {any} */ { nodes, totalCount }) => {
        if (!nodes.length) return html`<${Empty} title=${t("contract.none")} hint=${t("contract.none.hint")} />`;
        return html`${nodes.map((/** @type {any} */ contract) => html`<${Contract} key=${contract.contractId} contract=${contract} place=${place} />`)}
          ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}`;
      }}
    <//>
  <//>`;
}

/** @param {{contract: any, place: Place}} properties */
function Contract({ contract, place }) {
  const { contractId, state, isBinding } = contract;
  const name = contract.name ?? contractId;
  return html`<article class="contract" data-contract=${contractId}>
    <h3>
      <${Name} text=${name} />${" "}
      ${isBinding ? html`<${State} status=${STATUS[state]} word=${t(`contract.${state}`)} />` : html`<span class="soft">${t("contract.unbound")}</span>`}
    </h3>
    <${Facts}
      facts=${[
        [t("contract.version"), html`<bdi>${contract.version}</bdi>`],
        [t("contract.since"), html`<${Time} at=${contract.since} />`],
        [t("contract.status"), contract.status && html`<bdi>${contract.status}</bdi>`],
        [t("part.owners"), html`<${Owners} names=${contract.owners} />`],
      ]}
    />
    <${Clauses} clauses=${contract.clauses} name=${name} />
    <${Violations} violations=${contract.violations} name=${name} contract=${contractId} place=${place} />
    <${Versions} versions=${contract.versions} name=${name} contract=${contractId} place=${place} />
  </article>`;
}

/** @param {{clauses: any[], name: string}} properties */
function Clauses({ clauses, name }) {
  const kept = clauses.filter((clause) => clause.kept === true).length;
  const broken = clauses.filter((clause) => clause.kept === false).length;
  const numbers = { name, count: count(clauses.length), kept: count(kept), broken: count(broken), unknown: count(clauses.length - kept - broken) };
  // Broken promises come first, then those without facts.
  const place = (/** @type {any} */ { kept }) => (kept === false ? 0 : kept === null ? 1 : 2);
  const rows = clauses.map((clause, index) => ({ ...clause, index })).sort((a, b) => place(a) - place(b));
  return html`<${DataTable}
    caption=${t("contract.clauses", numbers)}
    columns=${withValues(clauseColumns(), rows)}
    rows=${rows}
    rowKey=${(/** @type {any} */ row) => row.index}
    isStacked=${true}
    file="promises"
  />`;
}

/** @param {boolean | null} kept */
function keptWord(kept) {
  if (kept === null) return t("contract.clause.unknown");
  return t(kept ? "contract.clause.kept" : "contract.clause.broken");
}

/** @param {boolean | null} kept */
function keptStatus(kept) {
  if (kept === null) return null;
  return kept ? "COMPLETE" : "FAIL";
}

/** @returns {Column[]} */
function clauseColumns() {
  return [
    { title: t("column.state"), value: (row) => keptWord(row.kept), cell: (row) => html`<${State} status=${keptStatus(row.kept)} word=${keptWord(row.kept)} />` },
    ...promiseColumns(),
    { title: t("column.actual"), value: (row) => row.actual, cell: (row) => html`<${Name} text=${row.actual} />` },
    { title: t("contract.observed"), value: (row) => row.observedAt, cell: (row) => html`<${Time} at=${row.observedAt} />` },
  ];
}

/**
 * The columns of what is promised.
 * @returns {Column[]}
 */
function promiseColumns() {
  return [
    { title: t("contract.clause"), value: (row) => row.clause },
    { title: t("column.of"), value: (row) => row.column, cell: (row) => html`<${Name} text=${row.column} />` },
    { title: t("contract.expected"), value: (row) => row.expected, cell: (row) => html`<${Name} text=${row.expected} />` },
  ];
}

/** @param {{violations: any[], name: string, contract: string, place: Place}} properties */
function Violations({ violations, name, contract, place }) {
  if (!violations.length) return html`<p class="soft">${t("contract.violations.none")}</p>`;
  const open = violations.filter(({ until }) => !until).length;
  const rows = violations.map((violation, index) => ({ ...violation, index })).reverse();
  return html`<${DataTable}
    caption=${t("contract.violations", { name, count: count(rows.length), open: count(open) })}
    columns=${withValues(violationColumns(contract, place), rows)}
    rows=${rows}
    rowKey=${(/** @type {any} */ row) => row.index}
    isStacked=${true}
    file="contract-violations"
  />`;
}

/** @param {string} contract @param {Place} place @returns {Column[]} */
function violationColumns(contract, place) {
  const until = (/** @type {any} */ row) => row.until ?? t("contract.broken.open");
  const readers = (/** @type {any} */ row) => html`<${NodeList} nodes=${row.consumers} kind="JOB" none=${t("part.none")} />`;
  return [
    { title: t("contract.broken.since"), value: (row) => row.since, cell: (row) => html`<${Time} at=${row.since} />` },
    { title: t("contract.broken.until"), value: until, cell: (row) => (row.until ? html`<${Time} at=${row.until} />` : html`<${State} status="FAIL" word=${t("contract.broken.open")} />`) },
    ...promiseColumns(),
    { title: t("column.actual"), value: (row) => row.actual, cell: (row) => html`<${Name} text=${row.actual} />` },
    { title: t("contract.by"), value: (row) => row.job?.name ?? row.run?.runId, cell: (row) => html`<${Breaker} violation=${row} />` },
    { title: t("contract.readers"), value: (row) => row.consumers.map((/** @type {any} */ job) => job.name).join(", "), cell: readers },
    { title: t("column.version"), value: (row) => row.contractVersion, cell: (row) => html`<${DiffLink} version=${row.contractVersion} contract=${contract} place=${place} />` },
  ];
}

/** @param {{violation: any}} properties */
function Breaker({ violation: { run, job } }) {
  if (!run && !job) return html`<span class="soft">${t("contract.by.unknown")}</span>`;
  return html`${job && html`<${NodeLink} node=${{ ...job, kind: "JOB" }} showKind=${false} />`}
    ${run && html`<div><${NodeLink} node=${{ urn: run.urn, kind: "PIPELINE_RUN", name: run.runId }} /></div>`}`;
}

/**
 * A version as a link to what it changed.
 * @param {{version: string, contract: string, place: Place}} properties
 */
function DiffLink({ version, contract, place }) {
  const href = hrefOf(place.view, place.id, { ...place.parameters, diff: diffKey(contract, version) });
  return html`<a class="name" href=${href}><bdi>${version}</bdi></a>`;
}

/** @param {string} contract @param {string} version */
function diffKey(contract, version) {
  return `${contract}@${version}`;
}

/** @param {{versions: any[], name: string, contract: string, place: Place}} properties  oldest first */
function Versions({ versions, name, contract, place }) {
  const rows = [...versions].reverse();
  const opened = place.parameters.diff;
  const detail = (/** @type {any} */ { version, changes }) =>
    changes?.length
      ? html`<${Difference} key=${opened} name=${name} version=${version} changes=${changes} isOpen=${opened === diffKey(contract, version)} />`
      : null;
  return html`<${DataTable}
    caption=${t("contract.versions", { name, count: count(rows.length) })}
    columns=${versionColumns(contract, place)}
    rows=${rows}
    rowKey=${(/** @type {any} */ row) => `${row.version} ${row.since}`}
    detail=${detail}
    isStacked=${true}
    file="contract-versions"
  />`;
}

/** @param {string} contract @param {Place} place @returns {Column[]} */
function versionColumns(contract, place) {
  return [
    { title: t("column.version"), value: (row) => row.version, cell: (row) => html`<${DiffLink} version=${row.version} contract=${contract} place=${place} />` },
    { title: t("contract.broken.since"), value: (row) => row.since, cell: (row) => html`<${Time} at=${row.since} />` },
    { title: t("contract.until"), value: (row) => row.until ?? t("contract.now"), cell: (row) => (row.until ? html`<${Time} at=${row.until} />` : t("contract.now")) },
    { title: t("column.change"), value: changedText },
  ];
}

/** @param {any} version */
function changedText({ changes }) {
  if (!changes) return t("contract.first");
  return changes.length ? count(changes.length) : t("contract.same");
}

/** @param {{name: string, version: string, changes: any[], isOpen: boolean}} properties */
function Difference({ name, version, changes, isOpen }) {
  const breaking = changes.filter((change) => change.breaking).length;
  const caption = t("contract.diff", { name, version, count: count(changes.length), breaking: count(breaking) });
  const rows = changes.map((change, index) => ({ ...change, index }));
  return html`<${Folded} summary=${html`<bdi>${caption}</bdi>`} isOpen=${isOpen}>
    ${() => html`<${DataTable}
      caption=${caption}
      columns=${withValues(changeColumns(), rows)}
      rows=${rows}
      rowKey=${(/** @type {any} */ row) => row.index}
      isStacked=${true}
      file="contract-difference"
    />`}
  <//>`;
}

/** @returns {Column[]} */
function changeColumns() {
  const text = (/** @type {string | null} */ value) => html`<${Name} text=${value} />`;
  const effect = (/** @type {any} */ row) => t(row.breaking ? "contract.breaking" : "contract.harmless");
  return [
    { title: t("column.change"), value: (row) => t(`contract.change.${row.change}`), cell: changeMark },
    { title: t("contract.clause"), value: (row) => row.clause },
    { title: t("column.of"), value: (row) => row.column, cell: (row) => text(row.column) },
    { title: t("column.before"), value: (row) => row.before, cell: (row) => text(row.before) },
    { title: t("column.after"), value: (row) => row.after, cell: (row) => text(row.after) },
    { title: t("column.state"), value: effect, cell: (row) => html`<${State} status=${row.breaking ? "FAIL" : "COMPLETE"} word=${effect(row)} />` },
  ];
}

/** @param {any} row */
function changeMark({ change }) {
  const sign = SIGNS[/** @type {keyof typeof SIGNS} */ (change)];
  return html`<span class=${`change change-${change}`}><span aria-hidden="true">${sign}</span> ${t(`contract.change.${change}`)}</span>`;
}
