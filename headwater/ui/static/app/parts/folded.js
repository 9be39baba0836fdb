// Content that is folded until the reader opens it, code with line numbers, and facets as JSON.
import { html, useState } from "../html.js";
import { t } from "../texts.js";
import { Copy } from "./copy.js";
import { Empty } from "./messages.js";

const LINES_SHOWN = 400;

/**
 * @param {{summary: any, isOpen?: boolean, children: () => any}} properties
 */
export function Folded({ summary, isOpen = false, children }) {
  const [isUnfolded, setUnfolded] = useState(isOpen);
  return html`<details open=${isUnfolded} onToggle=${(/** @type {any} */ event) => setUnfolded(event.target.open)}>
    <summary>${summary}</summary>
    ${isUnfolded && children()}
  </details>`;
}

/**
 * Code with line numbers, which stay out of what one selects and copies.
 * @param {{text: string, what: string}} properties
 */
export function Code({ text, what }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.replace(/\n$/, "").split(/\r\n|\n|\r/);
  const shown = isWhole ? lines : lines.slice(0, LINES_SHOWN);
  const width = String(shown.length).length;
  const numbers = shown.map((_, index) => String(index + 1).padStart(width)).join("\n");
  return html`<div class="code" tabindex="0" role="region" aria-label=${what}>
      <pre class="line-numbers" aria-hidden="true">${numbers}</pre>
      <pre><code><bdi>${shown.join("\n")}</bdi></code></pre>
    </div>
    <p>
      <${Copy} text=${text} what=${what} />
      ${
        shown.length < lines.length &&
        html`${t("cut.title", { shown: shown.length, total: lines.length })}${" "}
          <button onClick=${() => setWhole(true)}>${t("part.rest", { count: lines.length - shown.length })}</button>`
      }
    </p>`;
}

/** @param {{facets: Record<string, unknown>}} properties */
export function Facets({ facets }) {
  const names = Object.keys(facets ?? {}).sort();
  if (!names.length) return html`<${Empty} title=${t("part.facets.none")} />`;
  return names.map(
    (name) => html`<${Folded} key=${name} summary=${html`<bdi class="mono name">${name}</bdi>`}>
      ${() => html`<${Code} text=${JSON.stringify(facets[name], null, 2)} what=${name} />`}
    <//>`,
  );
}
