// The page of an answer: what it says, where it comes from, what of that is out of date.
import { count } from "../format.js";
import { html } from "../html.js";
import { Facts, NodeList, OutsideLink, Owners, Time } from "../parts/facts.js";
import { NodeFindings } from "../parts/findings.js";
import { Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { NodeHead, NodeOutcome } from "../parts/node_head.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { idOfUrn, urnOfId } from "../urns.js";
import { useAsk } from "../use_ask.js";
import { Story } from "./answer_story.js";

const BRANCHES = 500;
const DEPTH = 10;

/** @param {{place: import("../router.js").Place}} properties */
export default function AnswerPage({ place }) {
  const urn = urnOfId("answer", place.id);
  return html`<${Answer} key=${urn} id=${idOfUrn(urn)} />`;
}

/** @param {{id: string}} properties */
function Answer({ id }) {
  const asked = useAsk("Answer", { answerId: id, first: BRANCHES + 1 });
  return html`<${NodeOutcome} asked=${asked} node=${asked.data?.answer} kind=${t("answer.kind")} name=${id}>
    ${(/** @type {any} */ answer) => html`<${Whole} answer=${answer} asked=${asked} />`}
  <//>`;
}

/** @param {{answer: any, asked: import("../use_ask.js").Asked}} properties */
function Whole({ answer, asked }) {
  const evidence = `/api/v1/evidence?${new URLSearchParams({ urn: answer.urn })}`;
  const picture = hrefOf("lineage", "", { urn: answer.urn, direction: "UPSTREAM", depth: DEPTH, level: "RUN" });
  return html`<${NodeHead}
      kind=${t("answer.kind")}
      urn=${answer.urn}
      name=${answer.answerId}
      actions=${html`<a href=${picture}>${t("answer.picture")}</a>
        <a href=${evidence} download="evidence.json">${t("answer.evidence")}</a>`}
    >
      ${answer.content && html`<blockquote><bdi>${answer.content}</bdi></blockquote>`}
      <${Facts}
        facts=${[
          [t("answer.generated"), answer.generatedAt && html`<${Time} at=${answer.generatedAt} />`],
          [t("answer.generated.by"), answer.generatedBy && html`<bdi>${answer.generatedBy}</bdi>`],
          [t("part.type"), answer.type],
          [t("part.owners"), html`<${Owners} names=${answer.owners} />`],
          [t("answer.where"), answer.url && html`<${OutsideLink} address=${answer.url} />`],
        ]}
      />
    <//>
    <${NodeFindings} urn=${answer.urn} />
    <${Section} id="stale" title=${t("answer.stale")}>
      <${FieldOutcome} asked=${asked} field="trace" what=${t("answer.stale")}>
        ${(/** @type {any} */ trace) => html`<${Stale} inputs=${trace.stale} />`}
      <//>
    <//>
    <${Section} id="story" title=${t("answer.story")}>
      <${FieldOutcome} asked=${asked} field="trace" what=${t("answer.story")}>
        ${(/** @type {any} */ trace) => html`<${Story} trace=${trace} branches=${BRANCHES} />`}
      <//>
    <//>
    <${Section} id="citations" title=${t("answer.cites")}>
      <${NodeList} nodes=${answer.citations.map(cited)} none=${t("answer.cites.none")} />
    <//>`;
}

/** @param {any} citation */
function cited({ urn, artifact, source, answer, column }) {
  if (artifact) return { ...artifact, kind: "ARTIFACT" };
  if (source) return { ...source, kind: "SOURCE" };
  if (answer) return { urn, kind: "ANSWER", name: answer.answerId };
  if (column) return { ...column, kind: "COLUMN", name: `${column.datasetName}.${column.name}` };
  return { urn, kind: "HIDDEN" };
}

/**
 * Data that is out of date, why, and whom to tell.
 * @param {{inputs: any[]}} properties
 */
export function Stale({ inputs }) {
  if (!inputs.length) return html`<${Empty} title=${t("answer.stale.none")} />`;
  return html`<${DataTable}
    caption=${t("answer.stale.caption", { count: count(inputs.length) })}
    columns=${staleColumns()}
    rows=${inputs}
    rowKey=${(/** @type {any} */ row) => row.dataset.urn + row.reason + row.at}
    isStacked=${true}
    file="stale"
  />`;
}

/** @returns {import("../parts/table.js").Column[]} */
function staleColumns() {
  const run = (/** @type {any} */ failed) =>
    html`<${NodeLink} node=${{ urn: failed.urn, kind: "PIPELINE_RUN", name: failed.pipelineName ?? idOfUrn(failed.urn) }} showKind=${false} />`;
  return [
    { title: t("column.dataset"), value: (row) => row.dataset.name, cell: (row) => html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />` },
    { title: t("column.reason"), value: (row) => row.reason, cell: (row) => html`<bdi>${row.reason}</bdi>` },
    { title: t("column.when"), value: (row) => row.at, cell: (row) => html`<${Time} at=${row.at} />` },
    { title: t("column.run"), value: (row) => row.failedRun?.pipelineName, cell: (row) => row.failedRun && run(row.failedRun) },
    { title: t("column.tell"), value: (row) => row.owners.join(", "), cell: (row) => html`<${Owners} names=${row.owners} />` },
  ];
}
