// The graph as SVG, while few nodes are shown: crisp, printable, and read by assistive technology.
import { html, memo, useEffect, useRef, useState } from "../html.js";
import { colourOf, shapeOf } from "../parts/state.js";
import { t } from "../texts.js";
import { edgeKey } from "./graph.js";
import {
  FIRST_LINE,
  FONT,
  LAST_LINE,
  NAME_LINE,
  SMALL,
  described,
  detailAt,
  fitText,
  iconOf,
  lineOf,
  shownState,
  titleOf,
  wordOf,
} from "./marks.js";
import { BOX_HEIGHT, BOX_WIDTH, STUB_GAP, STUB_RADIUS, pathData } from "./scene.js";

const PADDING = 14;
const ARROW = 6;

/**
 * What is drawn: `path` are the nodes of the highlighted path, null for none.
 * @typedef {object} Look
 * @property {import("./graph.js").Shown} shown
 * @property {string[]} starts
 * @property {string} overlay
 * @property {string} selected
 * @property {string} focused
 * @property {string} hovered
 * @property {Set<string> | null} path
 * @property {string} waiting the side that is awaited
 */

/** @param {{scene: import("./scene.js").Scene, camera: import("./camera.js").Camera, look: Look}} properties */
export function SvgLayer({ scene, camera, look }) {
  const world = useRef(/** @type {SVGGElement | null} */ (null));
  const [detail, setDetail] = useState(detailAt(camera.viewport.scale));
  useEffect(
    () =>
      camera.onChange(() => {
        const { left, top, scale } = camera.viewport;
        world.current?.setAttribute("transform", `translate(${left} ${top}) scale(${scale})`);
        setDetail(detailAt(scale));
      }),
    [camera],
  );
  return html`<svg class=${detail.nameSize ? "graph" : "graph is-plain"} role="group" aria-label=${t("explorer.graph")}>
    <g ref=${world}>
      ${scene.lines.map((line) => html`<${Line} key=${edgeKey(line.edge)} line=${line} mood=${lineMood(line.edge, look.path)} isFull=${detail.isFull} />`)}
      ${[...scene.boxes.values()].map(
        (box) => html`<${Box}
          key=${box.node.urn}
          node=${box.node}
          x=${box.x}
          y=${box.y}
          mood=${boxMood(box.node, look)}
          overlay=${look.overlay}
          detail=${detail}
          up=${stubText(look, box.node.urn, "up")}
          down=${stubText(look, box.node.urn, "down")}
        />`,
      )}
    </g>
  </svg>`;
}

/**
 * Return the classes of a node: start, selected, focused, off the highlighted path.
 * @param {import("./graph.js").GraphNode} node
 * @param {Look} look
 */
function boxMood(node, look) {
  const state = shownState(node);
  return [
    "node",
    `of-${node.kind.toLowerCase()}`,
    state ? `state-${colourOf(state)} as-${state}` : "",
    look.overlay === "privacy" && node.personalData ? `privacy-${node.personalData.toLowerCase()}` : "",
    node.change ? `is-${node.change}` : "",
    look.starts.includes(node.urn) ? "is-start" : "",
    node.urn === look.selected ? "is-selected" : "",
    node.urn === look.focused ? "is-focused" : "",
    look.path && !look.path.has(node.urn) ? "is-dim" : "",
  ].join(" ");
}

/**
 * @param {import("./graph.js").GraphEdge} edge
 * @param {Set<string> | null} path
 */
function lineMood(edge, path) {
  const change = edge.change ? ` is-${edge.change}` : "";
  if (!path) return `line${change}`;
  return path.has(edge.source) && path.has(edge.target) ? `line${change} is-path` : `line${change} is-dim`;
}

/**
 * Return the text of the button on a side of a node: "+n", "−" where the reader points, or "".
 * @param {Look} look
 * @param {string} urn
 * @param {import("./address.js").Side} side
 */
export function stubText(look, urn, side) {
  const mark = (side === "up" ? "<" : ">") + urn;
  if (look.waiting === mark) return "…";
  const hidden = look.shown.more.get(urn)?.[side] ?? 0;
  if (hidden) return `+${hidden > 999 ? "999" : hidden}`;
  const isPointedAt = urn === look.hovered || urn === look.selected || urn === look.focused;
  return isPointedAt && look.shown.open.has(mark) ? "−" : "";
}

const Line = memo(
  /** @param {{line: import("./scene.js").Line, mood: string, isFull: boolean}} properties */
  ({ line, mood, isFull }) => {
    const [x, y] = line.points[line.points.length - 1];
    const arrow = `M${x - ARROW} ${y - ARROW}L${x} ${y}L${x - ARROW} ${y + ARROW}`;
    return html`<g class=${mood}>
      <path d=${pathData(line)} /><path class="arrow" d=${arrow} />
      ${
        line.label &&
        isFull &&
        html`<text class="edge-label" x=${line.label.x} y=${line.label.y} text-anchor="middle">${line.label.text}</text>`
      }
    </g>`;
  },
);

const Box = memo(
  /**
   * @param {{
   *   node: import("./graph.js").GraphNode, x: number, y: number, mood: string, overlay: string,
   *   detail: import("./marks.js").Detail, up: string, down: string
   * }} properties
   */
  ({ node, x, y, mood, overlay, detail, up, down }) => {
    const isRound = node.kind === "JOB" || node.kind === "PIPELINE_RUN";
    const name = titleOf(node);
    return html`<g
      id=${`node-${node.urn}`}
      class=${mood}
      data-urn=${node.urn}
      role="img"
      aria-label=${described(node, overlay, undefined)}
      transform=${`translate(${x} ${y})`}
    >
      ${node.members && html`<rect class="box behind" x="5" y="5" width=${BOX_WIDTH} height=${BOX_HEIGHT} rx="8" />`}
      <rect class="box" width=${BOX_WIDTH} height=${BOX_HEIGHT} rx=${isRound ? 20 : 6} />
      <rect class="ring" x="-4" y="-4" width=${BOX_WIDTH + 8} height=${BOX_HEIGHT + 8} rx=${isRound ? 24 : 10} />
      ${detail.isFull ? html`<${Lines} node=${node} overlay=${overlay} isRound=${isRound} />` : ""}
      ${
        detail.nameSize > 0 &&
        !detail.isFull &&
        html`<text class="label" x=${PADDING} y=${BOX_HEIGHT / 2} dominant-baseline="central" font-size=${detail.nameSize}>
          ${fitText(name, BOX_WIDTH - 2 * PADDING, `600 ${detail.nameSize}px ${FONT}`)}
        </text>`
      }
      ${up && detail.stub > 0 && html`<${Stub} x=${-STUB_GAP} text=${up} size=${detail.stub} />`}
      ${down && detail.stub > 0 && html`<${Stub} x=${BOX_WIDTH + STUB_GAP} text=${down} size=${detail.stub} />`}
    </g>`;
  },
);

/** @param {{node: import("./graph.js").GraphNode, overlay: string, isRound: boolean}} properties */
function Lines({ node, overlay, isRound }) {
  const state = shownState(node);
  const word = wordOf(node);
  const left = isRound ? PADDING + 4 : PADDING;
  const width = BOX_WIDTH - left - PADDING;
  return html`<title>${titleOf(node)}${node.namespace ? `\n${node.namespace}` : ""}</title>
    <path class="icon" d=${iconOf(node.kind)} transform=${`translate(${left} 11)`} />
    <text class="kind-text" x=${left + 23} y=${FIRST_LINE}>${t(`kind.${node.kind}`)}</text>
    ${word && html`<text class="word" x=${BOX_WIDTH - PADDING - 20} y=${FIRST_LINE} text-anchor="end">${word}</text>`}
    ${state && html`<path class="mark" d=${shapeOf(state)} transform=${`translate(${BOX_WIDTH - PADDING - 14} 12)`} />`}
    <text class="label" x=${left} y=${NAME_LINE} font-size="17">${fitText(titleOf(node), width, `600 17px ${FONT}`)}</text>
    <text class="line-text" x=${left} y=${LAST_LINE}>${fitText(lineOf(node, overlay), width, `${SMALL}px ${FONT}`)}</text>`;
}

/** @param {{x: number, text: string, size: number}} properties */
function Stub({ x, text, size }) {
  return html`<g class="stub" transform=${`translate(${x} ${BOX_HEIGHT / 2}) scale(${size})`}>
    <circle r=${STUB_RADIUS} /><text text-anchor="middle" dominant-baseline="central">${text}</text>
  </g>`;
}
