// The tiles of a dashboard, in one question; after the first eight a button shows the rest.
import { tileOf } from "../figures.js";
import { count } from "../format.js";
import { html, useState } from "../html.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";
import { FieldOutcome } from "./section.js";
import { Tile } from "./tile.js";

const SHOWN = 8;
export const HISTORY_DAYS = 90;

/** @param {{names: string[]}} properties */
export function FigureTiles({ names }) {
  const asked = useAsk("Figures", { names, days: HISTORY_DAYS });
  return html`<${FieldOutcome} asked=${asked} field="figures" what=${t("dashboards.figures")}>
    ${(/** @type {any[]} */ figures) => html`<${Tiles} figures=${figures} />`}
  <//>`;
}

/** @param {{figures: any[]}} properties */
function Tiles({ figures }) {
  const [isWhole, setWhole] = useState(false);
  // What needs attention comes first.
  const ordered = [...figures].sort((a, b) => Number(b.isBelowThreshold) - Number(a.isBelowThreshold));
  const shown = isWhole ? ordered : ordered.slice(0, SHOWN);
  const rest = ordered.length - shown.length;
  return html`<div class="tiles">
      ${shown.map((figure) => html`<${Tile} key=${figure.name} ...${tileOf(figure)} />`)}
    </div>
    ${rest > 0 && html`<p><button onClick=${() => setWhole(true)}>${t("part.rest", { count: count(rest) })}</button></p>`}
    ${!figures.some(({ history }) => history.length > 1) && html`<p class="soft">${t("dashboards.trend.none")}</p>`}`;
}
