// An address without a view.
import { html } from "../html.js";
import { Empty } from "../parts/messages.js";
import { useTitle } from "../parts/node_head.js";
import { t } from "../texts.js";

export default function Missing() {
  useTitle(t("missing.title"));
  return html`<h1>${t("missing.title")}</h1><${Empty} title=${location.pathname} hint=${t("missing.hint")} />`;
}
