// The drawn graph as a file: SVG, PNG, Mermaid, JSON and CSV, from the scene that is drawn.
import { csv, moment } from "../format.js";
import { colourOf, shapeOf } from "../parts/state.js";
import { t } from "../texts.js";
import { iconOf, lineOf, shownState, titleOf, wordOf } from "./marks.js";
import { BOX_HEIGHT, BOX_WIDTH, pathData } from "./scene.js";

/**
 * What stands in a file beside the graph. `facts` are lines in words: the time, the filters, how
 * many nodes are not shown. `colours` are the tokens of app.css. `fit` cuts a text to a width.
 * @typedef {object} ExportOptions
 * @property {string} title
 * @property {string[]} facts
 * @property {Record<string, string>} colours
 * @property {string} [overlay]
 * @property {(text: string, width: number, font: string) => string} [fit]
 */
/**
 * @typedef {import("./graph.js").GraphNode} GraphNode
 * @typedef {import("./graph.js").GraphEdge} GraphEdge
 * @typedef {import("./scene.js").Box} Box
 * @typedef {import("./scene.js").Line} Line
 * @typedef {{boxes: Map<string, Box>, lines: Line[]}} Drawn
 * @typedef {{nodes: Iterable<GraphNode>, edges: Iterable<GraphEdge>}} Listed
 */

const FONT_FAMILY = "system-ui, sans-serif";
const MARGIN = 32;
const TITLE_HEIGHT = 26;
const FACT_HEIGHT = 18;
const PADDING = 14;
const ARROW = 6;
/** Of a letter, as a share of its size: names are cut by it where no ruler is given. */
const LETTER_WIDTH = 0.56;
const PNG_SIDE_MAX = 16_000;
const PNG_PIXELS_MAX = 100_000_000;
/** The signs that have no meaning in a label of Mermaid. */
const MERMAID = /[\p{L}\p{N} /_:]/u;
const JSON_FORMAT = "headwater-lineage";

/**
 * Return the scene as an SVG file that needs nothing else.
 * @param {Drawn} scene
 * @param {ExportOptions} options
 */
export function toSvg(scene, options) {
  const { colours } = options;
  const head = TITLE_HEIGHT + options.facts.length * FACT_HEIGHT + MARGIN / 2;
  const bounds = boundsOf(scene);
  const width = Math.max(bounds.width, 480) + 2 * MARGIN;
  const height = bounds.height + 2 * MARGIN + head;
  const move = `translate(${MARGIN - bounds.left} ${MARGIN + head - bounds.top})`;
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" font-family="${FONT_FAMILY}">`,
    `<title>${escaped(options.title)}</title>`,
    `<desc>${escaped(options.facts.join("; "))}</desc>`,
    `<rect width="${width}" height="${height}" fill="${colours.ground}"/>`,
    text({ x: MARGIN, y: MARGIN, size: 18, weight: 600, fill: colours.ink }, options.title),
    ...options.facts.map((fact, index) =>
      text(
        { x: MARGIN, y: MARGIN + TITLE_HEIGHT + index * FACT_HEIGHT, size: 13, fill: colours.soft },
        fact,
      ),
    ),
    `<g transform="${move}">`,
    ...scene.lines.map((line) => svgLine(line, colours)),
    ...[...scene.boxes.values()].map((box) => svgBox(box, options)),
    "</g></svg>",
    "",
  ].join("\n");
}

/**
 * Return an SVG file as a PNG, at twice its size, or smaller if that is more than a canvas holds.
 * @param {string} svg
 * @returns {Promise<Blob>}
 */
export async function toPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(
    2,
    PNG_SIDE_MAX / Math.max(width, height),
    Math.sqrt(PNG_PIXELS_MAX / (width * height)),
  );
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.floor(width * scale));
  canvas.height = Math.max(1, Math.floor(height * scale));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the picture is too large for this browser");
  return /** @type {Blob} */ (blob);
}

/**
 * Return the graph as a flowchart of Mermaid. Ids are numbers, so no name is read as syntax.
 * @param {Listed} graph
 */
export function toMermaid(graph) {
  const nodes = [...graph.nodes];
  const ids = new Map(nodes.map(({ urn }, index) => [urn, `n${index}`]));
  const lines = ["flowchart LR"];
  for (const node of nodes) {
    const state = shownState(node);
    const words = state && state !== "unknown" ? ` · ${t(`state.${state}`)}` : "";
    const label = `"${mermaidText(titleOf(node) + words)}"`;
    const [open, close] = mermaidShape(node.kind);
    lines.push(`  ${ids.get(node.urn)}${open}${label}${close}`);
  }
  for (const edge of graph.edges) {
    const [from, to] = [ids.get(edge.source), ids.get(edge.target)];
    if (!from || !to) continue;
    const label = edge.kinds?.length ? `|"${mermaidText(edge.kinds.join(", "))}"|` : "";
    lines.push(`  ${from} -->${label} ${to}`);
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Return the graph as JSON, with what the file is about.
 * @param {Listed} graph
 * @param {{title: string, facts: string[], savedAt: string}} about
 */
export function toJson(graph, { title, facts, savedAt }) {
  const nodes = [...graph.nodes].map((node) => {
    const { members, ...rest } = node;
    return members ? { ...rest, members: members.map(({ urn }) => urn) } : rest;
  });
  const value = { format: JSON_FORMAT, version: 1, title, facts, savedAt, nodes };
  return `${JSON.stringify({ ...value, edges: [...graph.edges] }, null, 1)}\n`;
}

/**
 * Return the nodes as CSV, each with its direct neighbours in the graph.
 * @param {Listed} graph
 */
export function toCsv(graph) {
  const upstream = new Map();
  const downstream = new Map();
  for (const { source, target } of graph.edges) {
    upstream.set(target, [...(upstream.get(target) ?? []), source]);
    downstream.set(source, [...(downstream.get(source) ?? []), target]);
  }
  const columns = /** @type {[string, (node: GraphNode) => unknown][]} */ ([
    ["urn", (node) => node.urn],
    ["kind", (node) => node.kind],
    ["namespace", (node) => node.namespace],
    ["name", (node) => node.name],
    ["state", (node) => node.state],
    ["state_since", (node) => node.stateSince],
    ["state_cause", (node) => node.stateCause],
    ["last_run_at", (node) => node.lastRunAt],
    ["updated_at", (node) => node.updatedAt],
    ["row_count", (node) => node.rowCount],
    ["failed_checks", (node) => node.failedChecks],
    ["open_findings", (node) => node.openFindings],
    ["finding_tier", (node) => node.findingTier],
    ["personal_data", (node) => node.personalData],
    ["personal_data_classes", (node) => node.personalDataClasses?.join(" ")],
    ["owners", (node) => node.owners?.join(" ")],
    ["tags", (node) => node.tags?.join(" ")],
    ["distance", (node) => node.distance],
    ["upstream", (node) => upstream.get(node.urn)?.join(" ")],
    ["downstream", (node) => downstream.get(node.urn)?.join(" ")],
  ]);
  const rows = [...graph.nodes].map((node) => columns.map(([, valueOf]) => valueOf(node)));
  return csv(
    columns.map(([name]) => name),
    rows,
  );
}

/**
 * Return the lines about a file that its reader needs: when it was saved, what it leaves out.
 * @param {{savedAt: string, asOf: string, filters: string[], shown: number, total: number,
 *   hidden: number}} about
 */
export function factsOf({ savedAt, asOf, filters, shown, total, hidden }) {
  return [
    t("explorer.save.saved", { time: moment(savedAt) }),
    ...(asOf ? [t("explorer.save.asOf", { time: moment(asOf) })] : []),
    ...filters,
    t("explorer.save.shown", { shown: String(shown), total: String(total) }),
    ...(hidden ? [t("explorer.save.hidden", { count: String(hidden) })] : []),
  ];
}

/** @param {Drawn} scene */
function boundsOf({ boxes, lines }) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const include = (/** @type {number} */ x, /** @type {number} */ y) => {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  };
  for (const { x, y } of boxes.values()) {
    include(x, y);
    include(x + BOX_WIDTH, y + BOX_HEIGHT);
  }
  for (const { points } of lines) for (const [x, y] of points) include(x, y);
  if (left === Infinity) return { left: 0, top: 0, width: 0, height: 0 };
  return { left, top, width: right - left, height: bottom - top };
}

/**
 * @param {import("./scene.js").Line} line
 * @param {Record<string, string>} colours
 */
function svgLine(line, colours) {
  const token = { added: "complete", removed: "failed" }[line.edge.change ?? ""] ?? "line-strong";
  const dash = line.edge.change === "removed" ? ' stroke-dasharray="6 5"' : "";
  const [x, y] = line.points[line.points.length - 1];
  const arrow = `M${x - ARROW} ${y - ARROW}L${x} ${y}L${x - ARROW} ${y + ARROW}`;
  const stroke = `fill="none" stroke="${colours[token]}" stroke-width="1.5"`;
  return `<path d="${pathData(line)}" ${stroke}${dash}/><path d="${arrow}" ${stroke}/>`;
}

/**
 * @param {import("./scene.js").Box} box
 * @param {ExportOptions} options
 */
function svgBox({ node, x, y }, { colours, overlay = "", fit = cut }) {
  const state = shownState(node);
  const token = tokenOf(node, state);
  const isRound = node.kind === "JOB" || node.kind === "PIPELINE_RUN";
  const left = isRound ? PADDING + 4 : PADDING;
  const room = BOX_WIDTH - left - PADDING;
  const dash = node.change === "removed" || node.kind === "HIDDEN" ? ' stroke-dasharray="5 4"' : "";
  const border = `stroke="${colours[token]}" stroke-width="${token === "line-strong" ? 1.2 : 2.2}"`;
  const word = wordOf(node);
  const right = BOX_WIDTH - PADDING;
  const soft = { size: 12, fill: colours.soft };
  const mark = `fill="none" stroke="${colours[token]}" stroke-width="2" stroke-linecap="round"`;
  const ground = GROUNDS[token] ?? "surface";
  return [
    `<g transform="translate(${x} ${y})"><title>${escaped(`${titleOf(node)} ${node.urn}`)}</title>`,
    `<rect width="${BOX_WIDTH}" height="${BOX_HEIGHT}" rx="${isRound ? 20 : 6}" ` +
      `fill="${colours[ground] ?? colours.surface}" ${border}${dash}/>`,
    `<path d="${iconOf(node.kind)}" transform="translate(${left} 9)" fill="none" ` +
      `stroke="${colours.soft}" stroke-width="1.3"/>`,
    text({ x: left + 22, y: 21.5, ...soft }, t(`kind.${node.kind}`)),
    word && text({ x: right - 20, y: 21.5, size: 12, fill: colours[token], anchor: "end" }, word),
    state && `<path d="${shapeOf(state)}" transform="translate(${right - 14} 10)" ${mark}/>`,
    text(
      { x: left, y: 42, size: 15, weight: 600, fill: colours.ink },
      fit(titleOf(node), room, `600 15px ${FONT_FAMILY}`),
    ),
    text({ x: left, y: 59, ...soft }, fit(lineOf(node, overlay), room, `12px ${FONT_FAMILY}`)),
    "</g>",
  ]
    .filter(Boolean)
    .join("");
}

const GROUNDS = /** @type {Record<string, string>} */ ({
  failed: "failed-ground",
  stale: "stale-ground",
});

/**
 * @param {GraphNode} node
 * @param {ReturnType<typeof shownState>} state
 */
function tokenOf(node, state) {
  if (node.change === "added") return "complete";
  if (node.change === "removed") return "failed";
  return state && state !== "unknown" ? colourOf(state) : "line-strong";
}

/**
 * Return a text of SVG. Its direction is its own, so that it does not turn what stands around it.
 * @param {{
 *   x: number, y: number, size: number, fill: string, weight?: number, anchor?: string
 * }} look
 * @param {string} content
 */
function text({ x, y, size, fill, weight = 400, anchor = "start" }, content) {
  const place = `x="${x}" y="${y}" text-anchor="${anchor}" unicode-bidi="isolate"`;
  const look = `font-size="${size}" font-weight="${weight}" fill="${fill}"`;
  return `<text ${place} ${look}>${escaped(content)}</text>`;
}

/**
 * Return a text cut to a width, by the mean width of a letter.
 * @param {string} content
 * @param {number} width
 * @param {string} font
 */
function cut(content, width, font) {
  const size = Number(/(\d+)px/.exec(font)?.[1] ?? 12);
  const letters = [...content];
  const most = Math.floor(width / (size * LETTER_WIDTH));
  if (letters.length <= most) return content;
  const head = Math.floor((most - 1) / 3);
  return `${letters.slice(0, head).join("")}…${letters.slice(head + 1 - most).join("")}`;
}

/**
 * Return a text for XML: without signs that XML does not allow, and with its own signs escaped.
 * @param {string} content
 */
function escaped(content) {
  return content
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/**
 * Return a text in which Mermaid reads no syntax, no HTML and no Markdown.
 * @param {string} content
 */
function mermaidText(content) {
  const signs = [...content.replaceAll(/\s+/g, " ")];
  return signs
    .map((sign, index) => {
      // A dot or a dash before a space could begin a list of Markdown.
      const isPlain = /[.-]/.test(sign) ? (signs[index + 1] ?? " ") !== " " : MERMAID.test(sign);
      return isPlain ? sign : `#${sign.codePointAt(0)};`;
    })
    .join("");
}

/** @param {string} kind */
function mermaidShape(kind) {
  if (kind === "JOB" || kind === "PIPELINE_RUN") return ["([", "])"];
  if (kind === "DATASET" || kind === "SOURCE") return ["[(", ")]"];
  return kind === "ANSWER" ? ["{{", "}}"] : ["[", "]"];
}
