// The explorer without a centre: search, the centres of before, and what there is.
import { ask } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { Empty } from "../parts/messages.js";
import { useTitle } from "../parts/node_head.js";
import { recentNodes } from "../parts/search.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";

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
    </div>
  </div>`;
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
