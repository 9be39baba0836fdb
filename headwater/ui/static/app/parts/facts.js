// Facts of a node as a list of terms, and lists of nodes and people.
import { webAddress } from "../facets.js";
import { ago, count, minute, moment } from "../format.js";
import { html, useState } from "../html.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { NameText } from "./name.js";
import { NodeLink } from "./node.js";

const SHOWN = 20;
const AGO_MILLISECONDS_MAX = 2 * 86_400_000;

/**
 * Facts in order; those without a value are left out.
 * @param {{facts: [string, any][]}} properties
 */
export function Facts({ facts }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  if (!known.length) return null;
  return html`<dl class="facts">
    ${known.map(([term, value]) => html`<dt key=${term}>${term}</dt><dd>${value}</dd>`)}
  </dl>`;
}

/**
 * A time: how long ago it was, or its date if it is days ago. The title has the other.
 * @param {{at: string | null | undefined}} properties
 */
export function Time({ at }) {
  if (!at) return null;
  const isOld = Date.now() - Date.parse(at) > AGO_MILLISECONDS_MAX;
  const title = isOld ? `${moment(at)}, ${ago(at)}` : moment(at);
  return html`<time datetime=${at} title=${title}>${isOld ? minute(at) : ago(at)}</time>`;
}

/**
 * A name as text; nothing for an empty one.
 * @param {{text: string | null | undefined}} properties
 */
export function Name({ text }) {
  return text ? html`<span class="name"><${NameText} text=${text} /></span>` : null;
}

/**
 * Nodes as links; after the first twenty a button shows the rest.
 * @param {{nodes: any[], kind?: string, none?: string, after?: (node: any) => any}} properties
 */
export function NodeList({ nodes, kind, none = "", after }) {
  const [isWhole, setWhole] = useState(false);
  if (!nodes.length) return html`<p class="soft">${none}</p>`;
  const shown = isWhole ? nodes : nodes.slice(0, SHOWN);
  const hidden = nodes.length - shown.length;
  return html`<ul class="rows">
      ${shown.map(
        (node) => html`<li key=${node.urn}>
          <${NodeLink} node=${kind ? { ...node, kind } : node} showKind=${!kind} /> ${after?.(node)}
        </li>`,
      )}
    </ul>
    ${
      hidden > 0 &&
      html`<p>
        ${t("cut.title", { shown: count(shown.length), total: count(nodes.length) })}${" "}
        <button onClick=${() => setWhole(true)}>${t("part.rest", { count: count(hidden) })}</button>
      </p>`
    }`;
}

/**
 * Owners, each a search for what is theirs.
 * @param {{names: string[], none?: string}} properties
 */
export function Owners({ names, none = t("part.unowned") }) {
  if (!names.length) return html`<span class="soft">${none}</span>`;
  return names.map(
    (name, index) => html`${index ? ", " : ""}<a key=${name} href=${hrefOf("search", "", { text: name })}><bdi>${name}</bdi></a>`,
  );
}

/**
 * A link to another site; plain text if the address is not one of the web.
 * @param {{address: string, text?: string}} properties
 */
export function OutsideLink({ address, text = address }) {
  const href = webAddress(address);
  if (!href) return html`<bdi class="name">${text}</bdi>`;
  return html`<a class="name" href=${href} rel="noopener noreferrer external"><bdi>${text}</bdi></a>`;
}
