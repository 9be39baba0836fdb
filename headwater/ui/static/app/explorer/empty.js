// An empty graph: which choice of the reader may have emptied it, each with a way back.
import { minute } from "../format.js";
import { html } from "../html.js";
import { Empty } from "../parts/messages.js";
import { t } from "../texts.js";

/** @typedef {import("./address.js").View} View */

/** @param {{view: View, change: (part: Partial<View>) => void}} properties */
export function NothingFound({ view, change }) {
  const choices = /** @type {[string, Partial<View>][]} */ ([
    view.folded.length > 0 && [t("explorer.empty.folded"), { folded: [] }],
    view.only && [t("explorer.empty.only", { only: view.only }), { only: "" }],
    view.asOf && [t("explorer.empty.asOf", { time: minute(view.asOf) }), { asOf: "" }],
    view.from && [t("explorer.empty.from", { time: minute(view.from) }), { from: "" }],
    view.direction !== "BOTH" && [t(`explorer.empty.${view.direction}`), { direction: "BOTH" }],
    view.level && [t("explorer.empty.level", { level: t(`explorer.level.${view.level}`) }), { level: "" }],
  ].filter(Boolean));
  const hint = choices.length ? t("explorer.empty.choices") : t("explorer.empty.hint");
  return html`<${Empty} title=${t("explorer.empty")} hint=${hint}>
    ${choices.map(
      ([text, part]) => html`<p key=${text}><button onClick=${() => change(part)}>${text}</button></p>`,
    )}
  <//>`;
}
