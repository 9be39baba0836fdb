// The readers of a dataset in a window of days, and what they cost.
import { count, duration } from "../format.js";
import { html } from "../html.js";
import { NodeList, Owners, Time } from "../parts/facts.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section, useSeen } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const WINDOWS = [7, 30, 90, 365, 3650];
const DAYS = 30;
const READERS = 50;

/** @param {{dataset: any, place: import("../router.js").Place}} properties */
export function Usage({ dataset, place }) {
  const later = useSeen();
  const { isSeen } = later;
  const days = WINDOWS.find((window) => String(window) === place.parameters.days) ?? DAYS;
  const asked = useAsk(isSeen ? "DatasetUsage" : null, { urn: dataset.urn, days, first: READERS });
  const choose = (/** @type {any} */ event) => {
    const chosen = Number(event.target.value);
    const parameters = { ...place.parameters, days: chosen === DAYS ? null : chosen };
    go(hrefOf(place.view, place.id, parameters), { replace: true });
  };
  const window = html`<label>
    <span class="hidden-text">${t("dataset.usage.window")}</span>
    <select value=${days} onChange=${choose}>
      ${WINDOWS.map((number) => html`<option key=${number} value=${number}>${t("dataset.usage.days", { days: count(number) })}</option>`)}
    </select>
  </label>`;
  return html`<${Section} id="usage" title=${t("dataset.usage")} note=${window} later=${later}>
    <${FieldOutcome} asked=${asked} field="usage" what=${t("dataset.usage")}>
      ${(/** @type {any} */ usage) => html`<${Readers} usage=${usage} />`}
    <//>
    <h3>${t("dataset.usage.readers")}</h3>
    <${NodeList} nodes=${dataset.readBy} kind="JOB" none=${t("part.none")} />
  <//>`;
}

/** @param {{usage: any}} properties */
function Readers({ usage }) {
  const { nodes, totalCount } = usage.consumers;
  if (!nodes.length) return html`<${Empty} title=${t("dataset.usage.none")} hint=${t("dataset.usage.none.hint")} />`;
  const caption = t("dataset.usage.caption", {
    jobs: count(totalCount),
    runs: count(usage.runs),
    time: duration(usage.seconds),
  });
  return html`<${DataTable} caption=${caption} columns=${readerColumns()} rows=${nodes} rowKey=${(/** @type {any} */ row) => row.job.urn} file="readers" />
    ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}
    ${usage.truncated && html`<p class="soft">${t("dataset.usage.truncated")}</p>`}
    <${DataTable} caption=${t("dataset.usage.chargeback")} columns=${ownerColumns()} rows=${usage.chargeback} rowKey=${(/** @type {any} */ row) => row.owner ?? ""} file="chargeback" />`;
}

/** @returns {import("../parts/table.js").Column[]} */
function readerColumns() {
  return [
    { title: t("column.job"), value: (row) => row.job.name, cell: (row) => html`<${NodeLink} node=${{ ...row.job, kind: "JOB" }} showKind=${false} />` },
    { title: t("column.owners"), value: (row) => row.owners.join(", "), cell: (row) => html`<${Owners} names=${row.owners} />` },
    { title: t("column.runs"), value: (row) => row.runs, cell: (row) => count(row.runs), isNumber: true },
    { title: t("column.seconds"), value: (row) => row.seconds, cell: (row) => duration(row.seconds), isNumber: true },
    { title: t("column.read"), value: (row) => row.lastReadAt, cell: (row) => html`<${Time} at=${row.lastReadAt} />` },
  ];
}

/** @returns {import("../parts/table.js").Column[]} */
function ownerColumns() {
  return [
    { title: t("column.owner"), value: (row) => row.owner, cell: (row) => html`<bdi>${row.owner ?? t("part.unowned")}</bdi>` },
    { title: t("column.jobs"), value: (row) => row.jobs, cell: (row) => count(row.jobs), isNumber: true },
    { title: t("column.seconds"), value: (row) => row.seconds, cell: (row) => duration(row.seconds), isNumber: true },
  ];
}
