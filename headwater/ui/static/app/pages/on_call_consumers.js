// Search for a dataset, and see at once who consumes it and whom to tell.
import { ask } from "../api.js";
import { count } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { Owners } from "../parts/facts.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const PAUSE_MILLISECONDS = 150;

/** @param {{place: import("../router.js").Place}} properties */
export function Consumers({ place }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {any[] | null} */ (null));
  const [selected, setSelected] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setSelected(0);
    if (!text.trim()) setFound(null);
    else {
      const timer = setTimeout(() => {
        ask("OnCallDatasets", { text: text.trim() }, stop.signal).then(
          ({ data }) => setFound(data.search.edges.map((/** @type {any} */ edge) => edge.node)),
          () => !stop.signal.aborted && setFound([]),
        );
      }, PAUSE_MILLISECONDS);
      stop.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    return () => stop.abort();
  }, [text]);
  const choose = (/** @type {number} */ index) => {
    const node = found?.[index];
    if (!node) return;
    setSelected(index);
    go(hrefOf("dashboards", "on-call", { ...place.parameters, dataset: node.urn }), { replace: true });
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found?.length) {
      event.preventDefault();
      setSelected((number) => Math.max(0, Math.min(found.length - 1, number + step)));
    } else if (event.key === "Enter") choose(selected);
    else if (event.key === "Escape") setText("");
  };
  const urn = found ? found[selected]?.urn : place.parameters.dataset;
  return html`<${Section} id="consumers" title=${t("oncall.consumers")}>
    <div class="finder">
      <input
        type="search"
        role="combobox"
        aria-label=${t("oncall.consumers.label")}
        aria-expanded=${Boolean(found?.length)}
        aria-controls="datasets-found"
        aria-activedescendant=${found?.length ? `dataset-found-${selected}` : undefined}
        autocomplete="off"
        spellcheck="false"
        placeholder=${t("oncall.consumers.label")}
        value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.target.value)}
        onKeyDown=${pressed}
      />
      <ul id="datasets-found" class="found" role="listbox" aria-label=${t("oncall.consumers.found")} hidden=${!found?.length}>
        ${(found ?? []).map(
          (node, index) => html`<li key=${node.urn} id=${`dataset-found-${index}`} role="option" aria-selected=${index === selected} onClick=${() => choose(index)}>
            <bdi class="name">${node.name}</bdi> <span class="namespace"><bdi>${node.namespace}</bdi></span>
          </li>`,
        )}
      </ul>
    </div>
    <div aria-live="polite">
      ${found?.length === 0 && html`<${Empty} title=${t("oncall.consumers.unknown", { text })} hint=${t("oncall.consumers.unknown.hint")} />`}
      ${urn ? html`<${Downstream} key=${urn} urn=${urn} />` : !found && html`<p class="soft">${t("oncall.consumers.hint")}</p>`}
    </div>
  <//>`;
}

/** @param {{urn: string}} properties */
function Downstream({ urn }) {
  const asked = useAsk("OnCallConsumers", { urn });
  return html`<${FieldOutcome} asked=${asked} field="impact" what=${t("oncall.consumers")}>
    ${(/** @type {any} */ impact) => html`<${Affected} dataset=${asked.data.dataset} impact=${impact} />`}
  <//>`;
}

/** @param {{dataset: any, impact: any}} properties */
function Affected({ dataset, impact }) {
  const { affected, owners, truncated, truncatedBy, hiddenAffected } = impact;
  const heading = dataset && html`<p>
    <${NodeLink} node=${{ ...dataset, kind: "DATASET" }} /> · ${t("oncall.consumers.owned")} <${Owners} names=${dataset.owners} />
  </p>`;
  if (!affected.length) {
    const hint = hiddenAffected ? t("oncall.consumers.hidden") : t("oncall.consumers.none.hint");
    return html`${heading}<${Empty} title=${t("oncall.consumers.none")} hint=${hint} />`;
  }
  return html`${heading}
    <p><strong>${t("run.tell")}:</strong> <${Owners} names=${owners} none=${t("tell.nobody")} /></p>
    <${DataTable}
      caption=${t("oncall.consumers.caption", { count: count(affected.length), certified: count(impact.certifiedCount) })}
      columns=${affectedColumns()}
      rows=${affected}
      rowKey=${(/** @type {any} */ row) => row.urn ?? row.name}
      isStacked=${true}
      file="consumers"
    />
    ${hiddenAffected && html`<p class="soft">${t("oncall.consumers.hidden")}</p>`}
    ${truncated && html`<${Cut} shown=${count(affected.length)} total=${t("oncall.consumers.more")} limit=${truncatedBy} />`}`;
}

/** @returns {import("../parts/table.js").Column[]} */
function affectedColumns() {
  return [
    { title: t("oncall.column.consumer"), value: (row) => row.name, cell: (row) => html`<${NodeLink} node=${row} />` },
    { title: t("oncall.column.distance"), value: (row) => row.distance, isNumber: true },
    { title: t("column.owners"), value: (row) => row.owners.join(", "), cell: (row) => html`<${Owners} names=${row.owners} />` },
    { title: t("oncall.column.certified"), value: (row) => (row.certified ? t("oncall.yes") : ""), cell: (row) => row.certified && html`<span class="tag">${t("oncall.yes")}</span>` },
  ];
}
