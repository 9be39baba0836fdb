// The tiles of a dashboard. Figures that follow paths take longer, so they are asked for apart; after
// the first eight a button shows the rest.
import { tileOf } from "../figures.js";
import { count } from "../format.js";
import { html, useState } from "../html.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";
import { FieldFailure, FieldOutcome } from "./section.js";
import { Tile } from "./tile.js";

const SHOWN = 8;
const SLOW = ["median-blast-radius", "certified-path-integrity", "model-completeness"];
export const HISTORY_DAYS = 90;

/** @param {{names: string[]}} properties */
export function FigureTiles({ names }) {
  const [isWhole, setWhole] = useState(false);
  const ordered = [...names.filter((name) => !SLOW.includes(name)), ...names.filter((name) => SLOW.includes(name))];
  const shown = isWhole ? ordered : ordered.slice(0, SHOWN);
  const rest = ordered.length - shown.length;
  const slow = shown.filter((name) => SLOW.includes(name));
  return html`<${Group} names=${shown.filter((name) => !SLOW.includes(name))} />
    ${slow.length > 0 && html`<${Group} names=${slow} />`}
    ${rest > 0 && html`<p><button onClick=${() => setWhole(true)}>${t("part.rest", { count: count(rest) })}</button></p>`}`;
}

/** @param {{names: string[]}} properties */
function Group({ names }) {
  const asked = useAsk("Figures", { names, days: HISTORY_DAYS });
  return html`<${FieldOutcome} asked=${asked} field="figures" what=${t("dashboards.figures")}>
    ${(/** @type {any[]} */ figures) => html`
      <${FieldFailure} asked=${asked} field="figures" />
      <${Tiles} figures=${figures} />
    `}
  <//>`;
}

/** @param {{figures: any[]}} properties */
function Tiles({ figures }) {
  // What needs attention comes first.
  const ordered = [...figures].sort((a, b) => Number(b.isBelowThreshold) - Number(a.isBelowThreshold));
  return html`<div class="tiles">
      ${ordered.map((figure) => html`<${Tile} key=${figure.name} ...${tileOf(figure)} />`)}
    </div>
    ${!figures.some(({ history }) => history?.length > 1) && html`<p class="soft">${t("dashboards.trend.none")}</p>`}`;
}
