// The menu that saves the drawn graph as a file.
import { html, useState } from "../html.js";
import { download } from "../parts/table.js";
import { t } from "../texts.js";
import { factsOf, toCsv, toJson, toMermaid, toPng, toSvg } from "./exports.js";
import { fitText } from "./marks.js";

const TOKENS = [
  "ground",
  "surface",
  "ink",
  "soft",
  "line-strong",
  "complete",
  "running",
  "failed",
  "aborted",
  "abandoned",
  "stale",
  "unknown",
  "failed-ground",
  "stale-ground",
];
const FORMATS = /** @type {const} */ (["svg", "png", "mermaid", "json", "csv"]);
const ENDINGS = { svg: "svg", png: "png", mermaid: "mmd", json: "json", csv: "csv" };
const NAME_LENGTH_MAX = 60;

/** @typedef {typeof FORMATS[number]} Format */
/**
 * `scene` is null in the list, which has no picture.
 * @typedef {object} Saved
 * @property {import("./scene.js").Scene | null} scene
 * @property {import("./graph.js").Shown} shown
 * @property {import("./address.js").View} view
 * @property {string} name
 */

/** @param {Saved} properties */
export function SaveMenu(properties) {
  const [failure, setFailure] = useState("");
  const formats = properties.scene ? FORMATS : FORMATS.filter((one) => one !== "svg" && one !== "png");
  const save = async (/** @type {any} */ event, /** @type {Format} */ format) => {
    event.target.closest("details").open = false;
    setFailure("");
    try {
      download(`${fileName(properties.name)}.${ENDINGS[format]}`, await fileOf(format, properties));
    } catch (error) {
      setFailure(t("explorer.save.failed", { message: String(/** @type {any} */ (error).message) }));
    }
  };
  return html`<details class="time save">
    <summary>${t("explorer.save")}</summary>
    <div class="popover">
      ${formats.map(
        (format) => html`<button key=${format} onClick=${(/** @type {any} */ event) => save(event, format)}>
          ${t(`explorer.save.${format}`)}
        </button>`,
      )}
    </div>
    ${failure && html`<p class="message" role="alert">${failure}</p>`}
  </details>`;
}

/**
 * Return the content of a file.
 * @param {Format} format
 * @param {Saved} saved
 * @returns {Promise<Blob>}
 */
async function fileOf(format, { scene, shown, view, name }) {
  const savedAt = new Date().toISOString();
  const title = t("explorer.save.title", { name });
  const facts = factsOf({
    savedAt,
    asOf: view.asOf,
    filters: [
      ...(view.from ? [t("explorer.save.compared", { time: view.from })] : []),
      ...(view.only ? [t("explorer.save.only", { only: view.only })] : []),
    ],
    shown: shown.nodes.length,
    total: shown.total,
    hidden: shown.nodes.filter(({ kind }) => kind === "HIDDEN").length,
  });
  if (format === "mermaid") return new Blob([toMermaid(shown)], { type: "text/plain" });
  if (format === "csv") return new Blob([toCsv(shown)], { type: "text/csv" });
  if (format === "json" || !scene) {
    return new Blob([toJson(shown, { title, facts, savedAt })], { type: "application/json" });
  }
  const options = { title, facts, colours: coloursOf(), overlay: view.overlay, fit: fitText };
  const svg = toSvg(scene, options);
  return format === "png" ? toPng(svg) : new Blob([svg], { type: "image/svg+xml" });
}

/** Return the colours that are in force. */
function coloursOf() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(TOKENS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/**
 * Return a name that any file system takes.
 * @param {string} name
 */
function fileName(name) {
  const plain = name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").replaceAll(/^[_.]+|_+$/g, "");
  return `lineage_${[...plain].slice(-NAME_LENGTH_MAX).join("") || "graph"}`;
}
