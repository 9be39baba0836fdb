// The field of the written selector: what it selects, or where it is wrong.
import { count } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../texts.js";
import { METHOD_NAMES, matches, parse } from "./selector.js";

/** @typedef {import("./graph.js").Graph} Graph */

/**
 * Return the part of a graph that a selector selects; all of it if the selector is wrong.
 * @param {Graph} graph
 * @param {string} only
 * @returns {Graph}
 */
export function selectedOf(graph, only) {
  const selector = parse(only);
  if (!selector.terms.length) return graph;
  const urns = matches(graph, selector);
  const nodes = new Map([...graph.nodes].filter(([urn]) => urns.has(urn)));
  const edges = new Map(
    [...graph.edges].filter(([, { source, target }]) => urns.has(source) && urns.has(target)),
  );
  return { ...graph, nodes, edges };
}

/**
 * @param {{only: string, selected: number, change: (only: string) => void}} properties
 */
export function OnlyField({ only, selected, change }) {
  const [text, setText] = useState(only);
  useEffect(() => setText(only), [only]);
  const { error } = parse(text);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!error) change(text.trim());
  };
  return html`<form class="only" onSubmit=${submit}>
    <label>
      <span>${t("explorer.only")}</span>
      <input
        name="only"
        value=${text}
        placeholder=${t("explorer.only.example")}
        title=${t("explorer.only.help")}
        aria-invalid=${error ? "true" : "false"}
        aria-describedby="only-help"
        autocomplete="off"
        spellcheck=${false}
        maxlength="2000"
        onInput=${(/** @type {any} */ event) => setText(event.target.value)}
        onBlur=${submit}
      />
    </label>
    <span id="only-help" class=${error ? "only-error" : "soft"} role="status">
      ${error ? errorText(error) : only && t("explorer.only.found", { count: count(selected) })}
    </span>
  </form>`;
}

/** @param {import("./selector.js").SelectorError} error */
function errorText({ key, position, word }) {
  return t(`explorer.only.${key}`, {
    at: String(position + 1),
    word,
    names: METHOD_NAMES.join(", "),
  });
}
