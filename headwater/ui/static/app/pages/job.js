// The page of a job: its runs as bars and as a table, its code, what it reads and writes.
import { count, duration, moment } from "../format.js";
import { html } from "../html.js";
import { Deprecated, Edits } from "../parts/edits.js";
import { FacetSection } from "../parts/facet_section.js";
import { Facts, Name, NodeList, OutsideLink, Owners, Time } from "../parts/facts.js";
import { NodeFindings } from "../parts/findings.js";
import { Code } from "../parts/folded.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink, Tags } from "../parts/node.js";
import { NodeHead, NodeOutcome } from "../parts/node_head.js";
import { RunBars } from "../parts/run_bars.js";
import { JobNews } from "../parts/run_news.js";
import { Section } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable, withValues } from "../parts/table.js";
import { t } from "../texts.js";
import { nameOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";

const RUNS = 50;

/** @param {{place: import("../router.js").Place}} properties */
export default function JobPage({ place }) {
  return html`<${Job} key=${place.id} urn=${place.id} />`;
}

/** @param {{urn: string}} properties */
function Job({ urn }) {
  const asked = useAsk("Job", { urn, first: RUNS });
  return html`<${NodeOutcome} asked=${asked} node=${asked.data?.job} kind=${t("job.kind")} name=${nameOfUrn(urn)}>
    ${(/** @type {any} */ job) => html`<${Whole} job=${job} again=${asked.again} />`}
  <//>`;
}

/** @param {{job: any, again: () => void}} properties */
function Whole({ job, again }) {
  const [newest] = job.runs.nodes;
  const crumbs = job.parents.slice(0, 1).map((/** @type {any} */ parent) => ({
    text: parent.name,
    href: `/jobs/${encodeURIComponent(parent.urn)}`,
  }));
  return html`<${NodeHead}
      kind=${t("job.kind")}
      urn=${job.urn}
      name=${job.name}
      namespace=${job.namespace}
      crumbs=${crumbs}
      state=${html`<${State} status=${newest?.status} />`}
    >
      ${job.description && html`<p><bdi>${job.description}</bdi></p>`}
      <${Deprecated} deprecation=${job.deprecation} />
      ${job.deletedAt && html`<div class="message cut">${t("job.deleted", { when: moment(job.deletedAt) })}</div>`}
    <//>
    <${NodeFindings} urn=${job.urn} />
    <${Section} id="runs" title=${t("job.runs")} note=${html`<${JobNews} job=${job} shown=${job.runs.nodes} again=${again} />`}><${Runs} runs=${job.runs} /><//>
    <div class="panels spaced">
      <${Section} id="inputs" title=${t("job.inputs")}>
        <${NodeList} nodes=${job.inputs} kind="DATASET" none=${t("job.inputs.none")} />
      <//>
      <${Section} id="outputs" title=${t("job.outputs")}>
        <${NodeList} nodes=${job.outputs} kind="DATASET" none=${t("job.outputs.none")} />
      <//>
      <${Section} id="triggers" title=${t("job.trigger")}><${Triggers} job=${job} newest=${newest} /><//>
      <${Section} id="about" title=${t("part.about")}>
        <${Facts}
          facts=${[
            [t("part.owners"), html`<${Owners} names=${job.owners} />`],
            [t("part.tags"), job.tags.length > 0 && html`<${Tags} names=${job.tags} />`],
            [t("part.type"), job.type],
            [t("job.integration"), job.integration],
            [t("job.processing"), job.processing],
            [t("part.seen.first"), html`<${Time} at=${job.firstSeen} />`],
            [t("part.seen.last"), html`<${Time} at=${job.lastSeen} />`],
          ]}
        />
      <//>
      ${job.children.length > 0 && html`<${Section} id="children" title=${t("job.children")}><${NodeList} nodes=${job.children} kind="JOB" /><//>`}
    </div>
    <${Section} id="code" title=${t("job.code")}><${Sources} job=${job} /><//>
    <${Edits} node=${job} kind=${t("job.kind")} tags=${job.tags} again=${again} />
    <${FacetSection} urn=${job.urn} />`;
}

/** @param {{runs: any}} properties */
function Runs({ runs }) {
  const { nodes, totalCount } = runs;
  if (!nodes.length) return html`<${Empty} title=${t("job.runs.none")} />`;
  return html`<${RunBars} runs=${nodes} label=${t("job.runs.bars")} />
    <p class="soft">${t("job.runs.bars")}.</p>
    <${DataTable} caption=${t("job.runs.caption")} columns=${withValues(runColumns(), nodes)} rows=${nodes} rowKey=${(/** @type {any} */ run) => run.urn} isStacked=${true} file="runs" />
    ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}`;
}

/** @returns {import("../parts/table.js").Column[]} */
function runColumns() {
  const link = (/** @type {any} */ run) =>
    html`<${NodeLink} node=${{ urn: run.urn, kind: "PIPELINE_RUN", name: run.runId }} showKind=${false} />`;
  const text = (/** @type {string | null | undefined} */ value) => html`<${Name} text=${value} />`;
  return [
    { title: t("column.state"), value: (run) => run.status, cell: (run) => html`<${State} status=${run.status} />` },
    { title: t("column.started"), value: (run) => run.startedAt, cell: (run) => html`<${Time} at=${run.startedAt} />` },
    { title: t("column.duration"), value: (run) => run.durationSeconds, cell: (run) => (run.durationSeconds === null ? "" : duration(run.durationSeconds)), isNumber: true },
    { title: t("column.run"), value: (run) => run.runId, cell: link },
    { title: t("column.attempt"), value: (run) => run.attempt, isNumber: true },
    { title: t("column.version"), value: (run) => run.version, cell: (run) => text(run.version) },
    { title: t("column.trigger"), value: (run) => run.triggeredBy, cell: (run) => text(run.triggeredBy) },
    { title: t("column.error"), value: (run) => run.error, cell: (run) => text(run.error?.split("\n", 1)[0]) },
  ];
}

/** @param {{job: any, newest: any}} properties */
function Triggers({ job, newest }) {
  const { runsAfter, parents } = job;
  const isKnown = runsAfter.length || parents.length || newest?.triggeredBy || newest?.nominalStart;
  if (!isKnown) return html`<p class="soft">${t("job.trigger.none")}</p>`;
  return html`<${Facts}
    facts=${[
      [t("job.trigger.after"), runsAfter.length > 0 && html`<${NodeList} nodes=${runsAfter} kind="JOB" />`],
      [t("job.trigger.parents"), parents.length > 0 && html`<${NodeList} nodes=${parents} kind="JOB" />`],
      [t("job.trigger.by"), newest?.triggeredBy && html`<bdi>${newest.triggeredBy}</bdi>`],
      [t("job.trigger.nominal"), newest?.nominalStart && moment(newest.nominalStart)],
    ]}
  />`;
}

/** @param {{job: any}} properties */
function Sources({ job }) {
  const facts = /** @type {[string, any][]} */ ([
    [t("job.code.version"), job.codeVersion && html`<bdi class="mono">${job.codeVersion}</bdi>`],
    [t("job.code.link"), (job.codeUrl ?? job.codeRepo) && html`<${OutsideLink} address=${job.codeUrl ?? job.codeRepo} />`],
    [t("job.code.path"), job.codePath && html`<bdi class="mono">${job.codePath}</bdi>`],
    [t("job.code.language"), job.sourceCode && job.language],
  ]);
  const isKnown = job.sql || job.sourceCode || facts.some(([, value]) => value);
  if (!isKnown) return html`<${Empty} title=${t("job.code.none")} hint=${t("job.code.none.hint")} />`;
  return html`<${Facts} facts=${facts} />
    ${job.sql && html`<h3>${t("job.code.sql")}</h3><${Code} text=${job.sql} what=${t("job.code.sql")} />`}
    ${job.sourceCode && html`<${Code} text=${job.sourceCode} what=${t("job.code")} />`}`;
}
