// The head of the page of a node: where it stands, its name, its state, and where to go from it.
import { html, useEffect } from "../html.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { Copy } from "./copy.js";
import { Empty, SingleOutcome } from "./messages.js";
import { NameText } from "./name.js";

const TITLE_LENGTH = 100;

/**
 * Set the title of the document while a view is shown.
 * @param {string} title
 */
export function useTitle(title) {
  useEffect(() => {
    document.title = `${title.slice(0, TITLE_LENGTH)} · ${t("app.name")}`;
    return () => {
      document.title = t("app.name");
    };
  }, [title]);
}

/**
 * @param {{
 *   kind: string, urn: string, name: string, namespace?: string | null,
 *   crumbs?: {text: string, href: string}[], state?: any, actions?: any, children?: any
 * }} properties
 */
export function NodeHead({ kind, urn, name, namespace = null, crumbs = [], state, actions, children }) {
  useTitle(name);
  return html`<nav class="crumbs" aria-label=${t("head.crumbs")}>
      <ol>
        <li><a href="/">${t("head.home")}</a></li>
        ${crumbs.map(({ text, href }) => html`<li key=${text}><a href=${href}><bdi>${text}</bdi></a></li>`)}
        <li aria-current="page">${kind}</li>
      </ol>
    </nav>
    <header class="node-head" data-urn=${urn}>
      <div class="node-title"><h1 class="name"><${NameText} text=${name} /></h1> ${state}</div>
      ${
        namespace !== null &&
        html`<p class="namespace"><bdi>${namespace}</bdi> <${Copy} text=${namespace} what=${t("head.namespace")} /></p>`
      }
      ${children}
      <p class="actions">
        <a class="button" href=${hrefOf("lineage", "", { urn })}>${t("head.lineage")}</a>
        <${Copy} text=${urn} what=${t("head.urn")} />
        ${actions}
      </p>
    </header>`;
}

/**
 * What the page of a node shows until its first answer, or instead of it; otherwise its children.
 * @param {{asked: import("../use_ask.js").Asked, node: any, kind: string, name: string, children: (node: any) => any}} properties
 */
export function NodeOutcome({ asked, node, kind, name, children }) {
  const missing = html`<${Unknown} kind=${kind} name=${name} />`;
  return html`<${SingleOutcome} asked=${asked} found=${node} what=${name} missing=${missing}>${children}<//>`;
}

/** @param {{kind: string, name: string}} properties */
function Unknown({ kind, name }) {
  useTitle(t("head.unknown", { kind }));
  const words = name.split(/[\s/:.]+/).filter(Boolean).slice(-1).join("");
  return html`<h1>${t("head.unknown", { kind })}</h1>
    <${Empty} title=${name} hint=${t("head.unknown.hint")}>
      <p><a href=${hrefOf("search", "", { text: words })}>${t("head.unknown.search", { text: words })}</a></p>
    <//>`;
}
