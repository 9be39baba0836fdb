// The page of one figure: its value, its trend, its exact definition, and the nodes behind it.
import { boundsOf, daily, tileOf } from "../figures.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { Facts, NodeList } from "../parts/facts.js";
import { HISTORY_DAYS } from "../parts/figure_tiles.js";
import { Cut, Empty } from "../parts/messages.js";
import { useTitle } from "../parts/node_head.js";
import { FieldFailure, FieldOutcome, Section } from "../parts/section.js";
import { InventoryGaps } from "../parts/service_levels.js";
import { Tile, figureText } from "../parts/tile.js";
import { TimeChart } from "../parts/time_chart.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const NODES = 200;

/** @param {{place: import("../router.js").Place}} properties */
export default function FigurePage({ place }) {
  const asked = useAsk("Figure", { names: [place.id], days: HISTORY_DAYS, first: NODES });
  return html`<${FieldOutcome} asked=${asked} field="figures" what=${t("dashboards.figures")}>
    ${(/** @type {any[]} */ [figure]) => html`
      <${FieldFailure} asked=${asked} field="figures" />
      <${Whole} figure=${figure} />
    `}
  <//>`;
}

/** @param {{figure: any}} properties */
function Whole({ figure }) {
  useTitle(figure.title);
  return html`<h1>${figure.title}</h1>
    <div class="tiles"><${Tile} ...${{ ...tileOf(figure), href: undefined }} /></div>
    <${Trend} figure=${figure} />
    <${Section} id="definition" title=${t("figure.definition")}>
      <${Facts}
        facts=${[
          [t("figure.counts"), figure.counts],
          [t("figure.outOf"), figure.outOf],
          [t("figure.window.title"), figure.windowDays && t("figure.window", { days: count(figure.windowDays) })],
          [t("figure.bounds"), boundsOf(figure)],
          [t("figure.sampled"), figure.isSampled && t("figure.sampled.yes")],
        ]}
      />
    <//>
    ${figure.name === "coverage" && html`<${InventoryGaps} />`}
    ${figure.nodes && html`<${Nodes} figure=${figure} />`}`;
}

/** @param {{figure: any}} properties */
function Nodes({ figure }) {
  return html`<${Section} id="nodes" title=${t("figure.nodes", { lists: figure.lists })}>
    ${
      figure.nodes.length
        ? html`<${NodeList} nodes=${figure.nodes} />
            ${figure.nodeCount >= NODES && html`<${Cut} shown=${count(figure.nodes.length)} total=${t("figure.more")} />`}`
        : html`<${Empty} title=${t("figure.nodes.none")} />`
    }
  <//>`;
}

/** @param {{figure: any}} properties */
function Trend({ figure }) {
  const { history, value, asOf, unit, title } = figure;
  const points = daily(history ?? [], value, asOf);
  if (points.length < 2) return html`<p class="soft">${t("dashboards.trend.none")}</p>`;
  const times = points.map(({ date }) => Date.parse(date) / 1000);
  const series = [{ label: title, color: "accent", values: points.map((point) => point.value) }];
  const format = (/** @type {number} */ number) => figureText(number, unit);
  return html`<${Section} id="trend" title=${t("figure.trend")}>
    <${TimeChart} label=${t("figure.trend.of", { title })} times=${times} series=${series} format=${format} />
  <//>`;
}
