// The facets of a node, folded; they are asked for when they are opened.
import { html, useState } from "../html.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";
import { Facets } from "./folded.js";
import { FieldOutcome, Section } from "./section.js";

/** @param {{urn: string}} properties */
export function FacetSection({ urn }) {
  const [isOpen, setOpen] = useState(false);
  const asked = useAsk(isOpen ? "Facets" : null, { urn });
  return html`<${Section} id="facets" title=${t("part.facets")}>
    <details onToggle=${(/** @type {any} */ event) => event.target === event.currentTarget && setOpen(event.target.open)}>
      <summary>${t("part.facets.fold")}</summary>
      ${
        isOpen &&
        html`<${FieldOutcome} asked=${asked} field="node" what=${t("part.facets")}>
          ${(/** @type {any} */ node) => html`<${Facets} facets=${node.facets} />`}
        <//>`
      }
    </details>
  <//>`;
}
