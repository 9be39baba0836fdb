// The page of a dataset: what it is, how fresh it is, its columns; the rest when the reader scrolls.
import { moment } from "../format.js";
import { html } from "../html.js";
import { Deprecated, Edits } from "../parts/edits.js";
import { FacetSection } from "../parts/facet_section.js";
import { NodeFindings } from "../parts/findings.js";
import { Facts, NodeList, OutsideLink, Owners, Time } from "../parts/facts.js";
import { NodeLink, Tags } from "../parts/node.js";
import { PrivacyChips, PrivacySection } from "../parts/personal_data.js";
import { NodeHead, NodeOutcome } from "../parts/node_head.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { State } from "../parts/state.js";
import { splitTags } from "../schemas.js";
import { t } from "../texts.js";
import { datasetUrnOf, nameOfUrn, nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";
import { Columns } from "./dataset_columns.js";
import { Contracts } from "./dataset_contracts.js";
import { Model, isModel } from "./dataset_model.js";
import { Policies } from "./dataset_policies.js";
import { SchemaHistory } from "./dataset_schemas.js";
import { Citations, Quality } from "./dataset_quality.js";
import { Rivals } from "./dataset_rivals.js";
import { Usage } from "./dataset_usage.js";
import { Versions } from "./dataset_versions.js";

/** The API returns at most so many entries of personal data at once. */
const PRIVACY_ENTRIES = 200;

/** @param {{place: import("../router.js").Place}} properties */
export default function DatasetPage({ place }) {
  const urn = datasetUrnOf(place.id);
  return html`<${Dataset} key=${urn} urn=${urn} place=${place} />`;
}

/** @param {{urn: string, place: import("../router.js").Place}} properties */
function Dataset({ urn, place }) {
  const asked = useAsk("Dataset", { urn });
  return html`<${NodeOutcome} asked=${asked} node=${asked.data?.dataset} kind=${t("dataset.kind")} name=${nameOfUrn(urn)}>
    ${(/** @type {any} */ dataset) => html`<${Whole} dataset=${dataset} asked=${asked} place=${place} />`}
  <//>`;
}

/** @param {{dataset: any, asked: import("../use_ask.js").Asked, place: import("../router.js").Place}} properties */
function Whole({ dataset, asked, place }) {
  const { urn } = dataset;
  const names = dataset.fields.map((/** @type {any} */ field) => field.name);
  const tags = splitTags(dataset.tags, names);
  const privacy = useAsk("DatasetPersonalData", { urn, first: PRIVACY_ENTRIES });
  const entries = privacy.data?.personalData?.nodes ?? [];
  return html`<${NodeHead}
      kind=${t("dataset.kind")}
      urn=${urn}
      name=${dataset.name}
      namespace=${dataset.namespace}
      crumbs=${[]}
      state=${html`<${LastRun} producers=${dataset.producedBy} />`}
    >
      ${dataset.description && html`<p><bdi>${dataset.description}</bdi></p>`}
      <${Deprecated} deprecation=${dataset.deprecation} />
      <${Notices} dataset=${dataset} />
      ${dataset.fields.length > 1 && dataset.producedBy.length > 0 && html`<${Rivals} urn=${urn} />`}
      ${entries.length > 0 && html`<p class="chips"><span class="soft">${t("privacy.title")}:</span> <${PrivacyChips} entries=${entries} /></p>`}
    <//>
    <div class="panels spaced">
      <${Section} id="about" title=${t("part.about")}><${About} dataset=${dataset} tags=${tags.own} /><//>
      <${Section} id="freshness" title=${t("dataset.freshness.title")}><${Freshness} asked=${asked} /><//>
      <${Section} id="producers" title=${t("dataset.producers")}>
        <${NodeList} nodes=${dataset.producedBy} kind="JOB" none=${t("dataset.producers.none")} after=${newestRun} />
      <//>
    </div>
    <${NodeFindings} urn=${urn} />
    <${Columns} dataset=${dataset} tags=${tags.ofColumn} privacy=${entries} />
    <${PrivacySection} asked=${privacy} dataset=${dataset} />
    ${isModel(dataset) && html`<${Model} urn=${urn} place=${place} />`}
    <${Versions} urn=${urn} />
    <${SchemaHistory} urn=${urn} place=${place} />
    <${Quality} urn=${urn} />
    <${Contracts} urn=${urn} place=${place} />
    <${Policies} urn=${urn} />
    <${Usage} dataset=${dataset} place=${place} />
    <${Citations} urn=${urn} />
    <${Edits} node=${dataset} kind=${t("dataset.kind")} tags=${tags.own} columnTags=${tags.ofColumn} again=${asked.again} />
    <${FacetSection} urn=${urn} />`;
}

/** @param {any} job */
function newestRun(job) {
  const [run] = job.runs.nodes;
  return run && html`<${State} status=${run.status} /> <${Time} at=${run.finishedAt ?? run.startedAt} />`;
}

/** @param {{producers: any[]}} properties */
function LastRun({ producers }) {
  const runs = producers.flatMap((job) => job.runs.nodes);
  if (!runs.length) return html`<span class="soft">${t("dataset.state.none")}</span>`;
  const [run] = runs.sort((a, b) => Date.parse(b.startedAt ?? 0) - Date.parse(a.startedAt ?? 0));
  return html`<span class="soft">${t("dataset.state")}</span>
    <a href=${`/runs/${encodeURIComponent(run.urn.slice("run:".length))}`} data-urn=${run.urn}><${State} status=${run.status} /></a>`;
}

/** @param {{dataset: any}} properties */
function Notices({ dataset }) {
  const { droppedAt, deletedAt } = dataset;
  return html`${droppedAt && html`<div class="message cut">${t("dataset.dropped", { when: moment(droppedAt) })}</div>`}
  ${deletedAt && html`<div class="message cut">${t("dataset.deleted", { when: moment(deletedAt) })}</div>`}`;
}

/** @param {{dataset: any, tags: string[]}} properties */
function About({ dataset, tags }) {
  const storage = [dataset.storage, dataset.fileFormat].filter(Boolean).join(", ");
  const aliases = dataset.aliases.map(
    (/** @type {any} */ alias) =>
      html`<div key=${alias.namespace + alias.name}><bdi class="name">${alias.name}</bdi> <span class="namespace"><bdi>${alias.namespace}</bdi></span></div>`,
  );
  return html`<${Facts}
    facts=${[
      [t("part.owners"), html`<${Owners} names=${dataset.owners} />`],
      [t("part.tags"), tags.length > 0 && html`<${Tags} names=${tags} />`],
      [t("part.type"), [dataset.type, dataset.subType].filter(Boolean).join(", ")],
      [t("dataset.storage"), storage],
      [t("dataset.source"), source(dataset)],
      [t("dataset.catalog"), dataset.catalog],
      [t("dataset.hierarchy"), dataset.hierarchy.join(" › ")],
      [t("dataset.lifecycle"), dataset.lifecycle],
      [t("dataset.aliases"), aliases.length > 0 && aliases],
      [t("part.seen.first"), html`<${Time} at=${dataset.firstSeen} />`],
      [t("part.seen.last"), html`<${Time} at=${dataset.lastSeen} />`],
    ]}
  />`;
}

/** @param {any} dataset */
function source({ sourceName, sourceUri }) {
  if (!sourceName && !sourceUri) return null;
  return html`<bdi>${sourceName}</bdi> ${sourceUri && html`<${OutsideLink} address=${sourceUri} />`}`;
}

/** @param {{asked: import("../use_ask.js").Asked}} properties */
function Freshness({ asked }) {
  return html`<${FieldOutcome} asked=${asked} field="freshness" what=${t("dataset.freshness.title")}>
    ${(/** @type {any} */ freshness) => html`<${Facts}
        facts=${[
          [t("dataset.freshness"), freshness.newestAt ? html`<${Time} at=${freshness.newestAt} />` : t("dataset.freshness.unknown")],
          [t("dataset.oldest"), oldest(freshness)],
        ]}
      />
      ${freshness.incompleteReason && html`<p class="soft">${t("dataset.incomplete", { reason: freshness.incompleteReason })}</p>`}`}
  <//>`;
}

/** @param {any} freshness */
function oldest({ effectiveAt, exact, sources }) {
  const [first] = sources;
  const time = effectiveAt
    ? html`<${Time} at=${effectiveAt} />${exact ? "" : ` ${t("dataset.oldest.inexact")}`}`
    : t("dataset.oldest.unknown");
  return html`${time}${first && html`<br /><${NodeLink} node=${nodeOfUrn(first.urn)} />`}`;
}
