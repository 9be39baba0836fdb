// An address without a view.
import { html } from "../html.js";
import { Empty } from "../parts/messages.js";
import { t } from "../texts.js";

export default function Missing() {
  return html`<${Empty} title=${t("missing.title")} hint=${t("missing.hint")} />`;
}
