// A node as text: its kind, its name as a link, its namespace.
import { html } from "../html.js";
import { hrefOfNode } from "../router.js";
import { t } from "../texts.js";
import { NameText } from "./name.js";

/**
 * A link to the page of a node. Each one carries its urn as `data-urn`.
 * @param {{node: {urn: string, kind: string, name: string, namespace?: string | null}, showKind?: boolean}} properties
 */
export function NodeLink({ node, showKind = true }) {
  const kind = showKind && html`<span class="kind">${t(`kind.${node.kind}`)}</span> `;
  if (node.kind === "HIDDEN") {
    return html`<span data-urn=${node.urn} title=${t("hidden.hint")}>${kind}<em>${t("hidden.name")}</em></span>`;
  }
  return html`<span data-urn=${node.urn}>
    ${kind}<a class="name" href=${hrefOfNode(node)}><${NameText} text=${node.name} /></a>
    ${node.namespace ? html` <span class="namespace"><${NameText} text=${node.namespace} /></span>` : ""}
  </span>`;
}

/** @param {{names: string[]}} properties */
export function Tags({ names }) {
  return names.map((name) => html`<span class="tag" key=${name}><bdi>${name}</bdi></span>`);
}
