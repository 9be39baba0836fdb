// The list of dashboards, and of all figures.
import { FIGURES } from "../figures.js";
import { html } from "../html.js";
import { FigureTiles } from "../parts/figure_tiles.js";
import { useTitle } from "../parts/node_head.js";
import { Section } from "../parts/section.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";

/** @param {{names: string[]}} properties */
export function DashboardList({ names }) {
  useTitle(t("dashboards.title"));
  return html`<h1>${t("dashboards.title")}</h1>
    <ul class="rows">
      ${names.map(
        (name) => html`<li key=${name}>
          <a href=${hrefOf("dashboards", name)}><strong>${t(`dashboards.${name}`)}</strong></a>
          <div class="soft">${t(`dashboards.${name}.for`)}</div>
        </li>`,
      )}
    </ul>
    <${Section} id="figures" title=${t("dashboards.figures")}><${FigureTiles} names=${FIGURES} /><//>`;
}
