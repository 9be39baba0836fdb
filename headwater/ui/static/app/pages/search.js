// All results of a search, by kind.
import { count } from "../format.js";
import { html } from "../html.js";
import { Empty, Outcome } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { useTitle } from "../parts/node_head.js";
import { DataTable } from "../parts/table.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const RESULTS = 100;

/** @param {{place: import("../router.js").Place}} properties */
export default function SearchPage({ place }) {
  const text = place.parameters.text ?? "";
  const asked = useAsk(text ? "Search" : null, { text, first: RESULTS });
  useTitle(text ? t("search.of", { text }) : t("search.title"));
  if (!text) return html`<h1>${t("search.title")}</h1><${Empty} title=${t("search.empty")} hint=${t("search.none.hint")} />`;
  return html`<h1>${t("search.title")}</h1>
    <${Outcome} asked=${asked} what=${`“${text}”`}>
      ${(/** @type {any} */ { search }) => {
        const nodes = search.edges.map((/** @type {any} */ edge) => edge.node);
        if (!nodes.length) {
          return html`<${Empty} title=${t("search.none", { text })} hint=${t("search.none.hint")} />`;
        }
        return html`<${DataTable}
          caption=${t("search.found", { count: count(search.totalCount), text })}
          columns=${COLUMNS}
          rows=${nodes}
          rowKey=${(/** @type {any} */ node) => node.urn}
          file="search"
        />`;
      }}
    <//>`;
}

/** @type {import("../parts/table.js").Column[]} */
const COLUMNS = [
  { title: t("search.kind"), value: (node) => t(`kind.${node.kind}`) },
  {
    title: t("search.name"),
    value: (node) => node.name,
    cell: (node) => html`<${NodeLink} node=${{ ...node, namespace: null }} showKind=${false} />`,
  },
  { title: t("search.namespace"), value: (node) => node.namespace, cell: (node) => html`<bdi class="name">${node.namespace}</bdi>` },
];
