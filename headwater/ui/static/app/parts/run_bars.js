// The runs of a job as bars: the height is the duration, the mark below is the state. Newest right.
import { duration, moment } from "../format.js";
import { html, useLayoutEffect, useRef } from "../html.js";
import { hrefOfNode } from "../router.js";
import { t } from "../texts.js";
import { shapeOf, stateOf } from "./state.js";

const HEIGHT = 120;
const STEP = 22;
const BAR = 16;
const BAR_MIN = 3;
const MARK = 14;
const SCALE = 64;

/**
 * Return the heights of bars, the longest at full height. A run that has not ended, or whose end is
 * not known, has the least height.
 * @param {(number | null)[]} seconds
 * @param {number} height
 */
export function barHeights(seconds, height) {
  const longest = Math.max(...seconds.map((value) => value ?? 0), 0);
  return seconds.map((value) =>
    longest > 0 && value ? Math.max(BAR_MIN, Math.round((value / longest) * height)) : BAR_MIN,
  );
}

/** @param {{runs: any[], label: string}} properties  newest run first, as the API lists them */
export function RunBars({ runs, label }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => frame.current?.scrollTo(frame.current.scrollWidth, 0), [runs]);
  const ordered = [...runs].reverse();
  const seconds = ordered.map((run) => run.durationSeconds);
  const heights = barHeights(seconds, HEIGHT);
  const longest = Math.max(...seconds.map((value) => value ?? 0), 0);
  const width = SCALE + ordered.length * STEP;
  return html`<div class="bars" tabindex="0" role="region" aria-label=${label} ref=${frame}>
    <svg width=${width} height=${HEIGHT + MARK + 16} viewBox=${`0 0 ${width} ${HEIGHT + MARK + 16}`} role="group" aria-label=${label}>
      <text x=${SCALE - 8} y="12" text-anchor="end" class="scale">${duration(longest)}</text>
      <line x1=${SCALE} x2=${width} y1=${HEIGHT} y2=${HEIGHT} class="axis" />
      ${ordered.map((run, index) => html`<${Bar} key=${run.urn} run=${run} x=${SCALE + index * STEP} height=${heights[index]} />`)}
    </svg>
  </div>`;
}

/** @param {{run: any, x: number, height: number}} properties */
function Bar({ run, x, height }) {
  const state = stateOf(run.status);
  const words = t("bars.run", {
    state: t(`state.${state}`),
    start: moment(run.startedAt),
    duration: run.durationSeconds === null ? t("bars.open") : duration(run.durationSeconds),
  });
  const left = x + (STEP - BAR) / 2;
  return html`<a href=${hrefOfNode({ urn: run.urn, kind: "PIPELINE_RUN" })} aria-label=${words} data-urn=${run.urn} class=${`bar-of state-${state}`}>
    <title>${words}</title>
    <rect x=${x} y="0" width=${STEP} height=${HEIGHT + MARK + 16} class="target" />
    <rect x=${left} y=${HEIGHT - height} width=${BAR} height=${height} fill="currentColor" />
    <path d=${shapeOf(state)} transform=${`translate(${left + 1} ${HEIGHT + 6})`} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
  </a>`;
}
