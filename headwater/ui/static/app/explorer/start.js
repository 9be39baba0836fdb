// The explorer without a centre: search, the centres of before, and what there is.
import { ask } from "../api.js";
import { count } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { Empty, Outcome } from "../parts/messages.js";
import { useTitle } from "../parts/node_head.js";
import { recentNodes } from "../parts/search.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const PAUSE_MILLISECONDS = 120;
const FOUND_MAX = 12;

export function Start() {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {any[] | null} */ (null));
  useTitle(t("nav.lineage"));
  useEffect(() => {
    const stop = new AbortController();
    if (!text.trim()) setFound(null);
    else {
      const timer = setTimeout(() => {
        ask("Suggestions", { text: text.trim(), first: FOUND_MAX }, stop.signal).then(
          ({ data }) => setFound(data.search.edges.map((/** @type {any} */ edge) => edge.node)),
          () => setFound([]),
        );
      }, PAUSE_MILLISECONDS);
      stop.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    return () => stop.abort();
  }, [text]);
  const recent = recentNodes();
  const asked = useAsk("ExploreStart", {});
  return html`<div class="view">
    <h1>${t("explorer.start")}</h1>
    <p>${t("explorer.start.lead")}</p>
    <p>
      <label class="start-search">
        <span class="hidden-text">${t("explorer.start.search")}</span>
        <input
          type="search"
          autocomplete="off"
          spellcheck="false"
          placeholder=${t("explorer.start.search")}
          value=${text}
          onInput=${(/** @type {any} */ event) => setText(event.target.value)}
        />
      </label>
    </p>
    <div class="panels">
      ${found && html`<section class="panel"><h2>${t("search.suggestions")}</h2><${Nodes} nodes=${found} none=${t("search.none", { text })} /></section>`}
      ${!found && html`<section class="panel"><h2>${t("search.recent")}</h2><${Nodes} nodes=${recent} none=${t("explorer.start.recent.none")} /></section>`}
      <${Outcome} asked=${asked} what=${t("explorer.start.overview")}>${(/** @type {any} */ data) => html`<${Overview} data=${data} />`}<//>
    </div>
  </div>`;
}

/** @param {{data: any}} properties */
function Overview({ data: { namespaces, datasets, answers } }) {
  const answered = answers.nodes.map((/** @type {any} */ node) => ({ ...node, kind: "ANSWER", name: node.answerId }));
  const tables = datasets.nodes.map((/** @type {any} */ node) => ({ ...node, kind: "DATASET" }));
  const cut = (/** @type {any} */ list) => t("cut.title", { shown: count(list.nodes.length), total: count(list.totalCount) });
  return html`<section class="panel">
      <div class="section-head"><h2>${t("explorer.start.answers")}</h2><span class="soft">${cut(answers)}</span></div>
      <${Nodes} nodes=${answered} none=${t("part.none")} />
    </section>
    <section class="panel">
      <div class="section-head"><h2>${t("explorer.start.datasets")}</h2><span class="soft">${cut(datasets)}</span></div>
      <${Nodes} nodes=${tables} none=${t("home.runs.none.hint")} />
    </section>
    <section class="panel">
      <div class="section-head"><h2>${t("explorer.start.namespaces")}</h2><span class="soft">${cut(namespaces)}</span></div>
      <ul class="rows">
        ${namespaces.nodes.map(
          (/** @type {any} */ { name, datasetCount, jobCount }) => html`<li key=${name}>
            <a class="name" href=${hrefOf("search", "", { text: name })}><bdi>${name}</bdi></a>${" "}
            <span class="soft">${t("explorer.start.counts", { datasets: count(datasetCount), jobs: count(jobCount) })}</span>
          </li>`,
        )}
      </ul>
    </section>`;
}

/** @param {{nodes: any[], none: string}} properties */
function Nodes({ nodes, none }) {
  if (!nodes.length) return html`<${Empty} title=${none} />`;
  return html`<ul class="rows">
    ${nodes.map(
      (node) => html`<li key=${node.urn} data-urn=${node.urn}>
        <span class="kind">${t(`kind.${node.kind}`)}</span>${" "}
        <a class="name" href=${hrefOf("lineage", "", { urn: node.urn })}><bdi>${node.name}</bdi></a>${" "}
        ${node.namespace ? html`<span class="namespace"><bdi>${node.namespace}</bdi></span>` : ""}
      </li>`,
    )}
  </ul>`;
}
