// The keys of the graph.
import { html } from "../html.js";
import { t } from "../texts.js";
import { KEYS } from "./keyboard.js";

/** @param {{close: () => void}} properties */
export function Help({ close }) {
  return html`<section class="help" aria-label=${t("explorer.help")}>
    <div class="section-head">
      <h2>${t("explorer.help")}</h2>
      <button class="plain small" onClick=${close} aria-label=${t("explorer.panel.close")}>✕</button>
    </div>
    <dl class="facts">
      ${KEYS.map(([keys, name]) => html`<dt key=${name}><kbd>${keys}</kbd></dt><dd>${t(`explorer.key.${name}`)}</dd>`)}
    </dl>
    <p class="soft">${t("explorer.help.mouse")}</p>
  </section>`;
}
