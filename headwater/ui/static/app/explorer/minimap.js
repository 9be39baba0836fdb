// The whole graph in a corner, with the part that the stage shows.
import { html, useEffect, useRef } from "../html.js";
import { colourOf } from "../parts/state.js";
import { shownState } from "./marks.js";
import { BOX_HEIGHT, BOX_WIDTH } from "./scene.js";
import { worldArea } from "./viewport.js";

const WIDTH = 168;
const HEIGHT = 104;
const INSET = 6;
/** A graph of a few nodes needs no map. */
const NODES_MIN = 12;

/** @param {{scene: import("./scene.js").Scene, camera: import("./camera.js").Camera}} properties */
export function Minimap({ scene, camera }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const view = useRef(/** @type {HTMLElement | null} */ (null));
  const isShown = scene.boxes.size >= NODES_MIN;
  const { bounds } = scene;
  const scale = Math.min((WIDTH - 2 * INSET) / bounds.width, (HEIGHT - 2 * INSET) / bounds.height);
  const left = (WIDTH - bounds.width * scale) / 2 - bounds.x * scale;
  const top = (HEIGHT - bounds.height * scale) / 2 - bounds.y * scale;
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !canvas.current) return;
    const style = getComputedStyle(canvas.current);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    for (const { node, x, y } of scene.boxes.values()) {
      const state = shownState(node);
      const token = state && state !== "complete" && state !== "unknown" ? colourOf(state) : "line-strong";
      context.fillStyle = style.getPropertyValue(`--${token}`);
      context.fillRect(x * scale + left, y * scale + top, Math.max(BOX_WIDTH * scale, 1.5), Math.max(BOX_HEIGHT * scale, 1.5));
    }
  }, [scene]);
  useEffect(
    () =>
      camera.onChange(() => {
        if (!view.current) return;
        const area = worldArea(camera.viewport, camera.size);
        const x = Math.max(area.x * scale + left, 0);
        const y = Math.max(area.y * scale + top, 0);
        view.current.style.transform = `translate(${x}px, ${y}px)`;
        view.current.style.width = `${Math.max(Math.min((area.x + area.width) * scale + left, WIDTH) - x, 2)}px`;
        view.current.style.height = `${Math.max(Math.min((area.y + area.height) * scale + top, HEIGHT) - y, 2)}px`;
      }),
    [scene, camera],
  );
  if (!isShown) return null;
  const go = (/** @type {PointerEvent} */ event) => {
    if (!event.buttons || !canvas.current) return;
    const box = canvas.current.getBoundingClientRect();
    const x = (event.clientX - box.left - left) / scale;
    const y = (event.clientY - box.top - top) / scale;
    const { size, viewport } = camera;
    camera.show({ ...viewport, left: size.width / 2 - x * viewport.scale, top: size.height / 2 - y * viewport.scale });
  };
  return html`<div class="minimap" aria-hidden="true" onPointerDown=${go} onPointerMove=${go}>
    <canvas ref=${canvas} width=${WIDTH} height=${HEIGHT} /><div ref=${view} class="minimap-view" />
  </div>`;
}
