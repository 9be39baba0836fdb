// The frame of the explorer: what is asked, what of it is shown, what is chosen.
import { awaited } from "../api.js";
import { count } from "../format.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { Cut, Failure, Loading } from "../parts/messages.js";
import { NameText } from "../parts/name.js";
import { useTitle } from "../parts/node_head.js";
import { rememberNode } from "../parts/search.js";
import { go, hrefOfNode } from "../router.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { centredAt, hrefOfView } from "./address.js";
import { Camera } from "./camera.js";
import { Controls, ViewSwitch, ZoomButtons } from "./controls.js";
import { NothingFound } from "./empty.js";
import { SaveMenu } from "./files.js";
import { NODE_BUDGET, pathOf, shownOf } from "./graph.js";
import { GROUP, UNGROUPED_MAX, grouped } from "./groups.js";
import { Help } from "./help.js";
import { ListView, summaryOf } from "./list.js";
import { titleOf } from "./marks.js";
import { OnlyField, selectedOf } from "./only.js";
import { EdgePanel, Panel } from "./panel.js";
import { place } from "./placing.js";
import { BOX_HEIGHT, BOX_WIDTH, sceneOf } from "./scene.js";
import { SVG_NODES_MAX, Stage } from "./stage.js";
import { useGraph } from "./use_graph.js";

/** How many nodes the list opens with. */
const LIST_BUDGET = 500;
const PANEL_MILLISECONDS = 260;
const REMEMBER_MILLISECONDS = 300;

/**
 * @typedef {import("./address.js").View} View
 * @typedef {import("./graph.js").Graph} Graph
 */

/** @param {{view: View, isList: boolean}} properties */
export function Explorer({ view, isList }) {
  const asked = useGraph(view);
  const centre = asked.graph?.nodes.get(asked.graph.starts[0]);
  const name = centre && !view.level ? titleOf(centre) : nodeOfUrn(view.urn).name;
  useTitle(name);
  useEffect(() => {
    if (centre) rememberNode(view.level ? nodeOfUrn(view.urn) : centre);
  }, [centre?.urn, view.urn]);
  if (asked.error) return html`<div class="view"><${Failure} error=${asked.error} again=${asked.again} /></div>`;
  if (!asked.graph) return html`<div class="view"><${Loading} what=${name} lines=${6} /></div>`;
  return html`<${Graphed} view=${view} isList=${isList} asked=${asked} graph=${asked.graph} name=${name} />`;
}

/**
 * Return the part of a graph that a view shows, and by what it is grouped.
 * @param {Graph} graph
 * @param {View} view
 * @param {boolean} isList
 */
function useShown(graph, view, isList) {
  const grouping = view.group || (graph.nodes.size > UNGROUPED_MAX ? "namespace" : "");
  const isPath = Boolean(view.to);
  const key = [grouping, isList, view.isWhole, view.open, view.folded, view.apart, view.only].join();
  return useMemo(() => {
    const whole = grouped(selectedOf(graph, view.only), grouping, view.apart);
    const limit = isList ? LIST_BUDGET : NODE_BUDGET;
    const budget = view.isWhole || isPath ? Infinity : limit;
    return { whole, grouping, shown: shownOf(whole, { budget, open: view.open, folded: view.folded }) };
  }, [graph, key]);
}

/**
 * Return the scene of a shown graph, and the camera that looks at it.
 * @param {import("./graph.js").Shown} shown
 * @param {Graph} graph
 * @param {{current: string | null}} anchor
 */
function useScene(shown, graph, anchor) {
  const [camera] = useState(() => new Camera());
  const [scene, setScene] = useState(/** @type {(import("./scene.js").Scene & {isOpening: boolean}) | null} */ (null));
  const before = useRef({ starts: "", places: new Map() });
  // Before anything else: the view is not ready until its nodes have places.
  useLayoutEffect(() => {
    const starts = graph.starts.join(" ");
    const isSame = before.current.starts === starts;
    const previous = isSame ? before.current.places : new Map();
    const fixed = [anchor.current, ...graph.starts].find((urn) => urn && previous.has(urn)) ?? null;
    anchor.current = null;
    let isCurrent = true;
    const placed = (/** @type {any} */ result) => {
      if (!isCurrent) return;
      before.current = { starts, places: result.places };
      setScene({ ...sceneOf(shown, result), isOpening: !isSame });
    };
    const result = place(shown, previous, fixed);
    if (result instanceof Promise) awaited(result).then(placed);
    else placed(result);
    return () => {
      isCurrent = false;
    };
  }, [shown]);
  useEffect(() => {
    camera.bounds = scene?.bounds ?? null;
    if (!scene?.isOpening || !camera.size.width) return;
    const { viewport, key } = history.state ?? {};
    if (viewport && key === graph.starts.join(" ")) camera.show(viewport);
    else camera.open(scene.bounds, centreOf(scene, graph.starts));
  }, [scene]);
  useEffect(() => rememberViewport(camera, graph.starts.join(" ")), [camera, graph.starts]);
  return { scene, camera };
}

/**
 * Keep the viewport in the history of the tab, so that "back" returns to it.
 * @param {Camera} camera
 * @param {string} key of the graph that it belongs to
 */
function rememberViewport(camera, key) {
  let timer = 0;
  const stop = camera.onChange(() => {
    clearTimeout(timer);
    const { viewport } = camera;
    timer = setTimeout(() => history.replaceState({ viewport, key }, ""), REMEMBER_MILLISECONDS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** @param {import("./scene.js").Scene} scene @param {string[]} starts */
function centreOf(scene, starts) {
  const box = starts.map((urn) => scene.boxes.get(urn)).find(Boolean);
  const { x, y, width, height } = scene.bounds;
  if (!box) return { x: x + width / 2, y: y + height / 2 };
  return { x: box.x + BOX_WIDTH / 2, y: box.y + BOX_HEIGHT / 2 };
}

/**
 * Return the node whose panel is open. It opens a moment after the choice, so that it does not come
 * between the two clicks of a double-click; a node that it would cover moves into sight.
 * @param {string} selected
 * @param {import("./scene.js").Scene | null} scene
 * @param {Camera} camera
 */
function usePanel(selected, scene, camera) {
  const [opened, setOpened] = useState(selected);
  useEffect(() => {
    if (!selected || opened) {
      setOpened(selected);
      return undefined;
    }
    const timer = setTimeout(() => setOpened(selected), PANEL_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [selected]);
  useEffect(() => {
    const box = opened && scene?.boxes.get(opened);
    if (!box) return undefined;
    const area = { x: box.x, y: box.y, width: BOX_WIDTH, height: BOX_HEIGHT };
    const frame = requestAnimationFrame(() => camera.reveal(area));
    return () => cancelAnimationFrame(frame);
  }, [opened, scene !== null]);
  return opened;
}

/** @param {{view: View, isList: boolean, asked: any, graph: Graph, name: string}} properties */
function Graphed({ view, isList, asked, graph, name }) {
  const { whole, grouping, shown } = useShown(graph, view, isList);
  const anchor = useRef(/** @type {string | null} */ (null));
  const { scene, camera } = useScene(shown, whole, anchor);
  const [focused, setFocused] = useState("");
  const [hovered, setHovered] = useState("");
  const [edge, setEdge] = useState(/** @type {import("./graph.js").GraphEdge | null} */ (null));
  const [isHelp, setHelp] = useState(false);
  const [said, setSaid] = useState("");
  const selected = view.selected && shown.nodes.some(({ urn }) => urn === view.selected) ? view.selected : "";
  const change = (/** @type {Partial<View>} */ part) => go(hrefOfView({ ...view, ...part }), { replace: true });
  const step = (/** @type {Partial<View>} */ part) => go(hrefOfView({ ...view, ...part }));
  const isDrawn = !isList;
  const opened = usePanel(selected, scene, camera);

  const followed = selected || (shown.nodes.length <= SVG_NODES_MAX ? hovered : "");
  const path = useMemo(() => (followed ? pathOf(shown, followed) : null), [shown, followed]);
  const look = useMemo(
    () => ({ shown, starts: whole.starts, overlay: view.overlay, selected, focused, hovered, path, waiting: asked.waiting }),
    [shown, whole, view.overlay, selected, focused, path, asked.waiting, path && hovered],
  );

  const nodeOf = (/** @type {string} */ urn) => whole.nodes.get(urn) ?? nodeOfUrn(urn);
  const select = (/** @type {string} */ urn) => {
    setEdge(null);
    setFocused(urn);
    change({ selected: urn });
  };
  const release = () => {
    if (isHelp) setHelp(false);
    else if (edge || view.selected) {
      setEdge(null);
      change({ selected: "" });
    } else setFocused("");
  };
  const toggle = async (/** @type {string} */ urn, /** @type {import("./address.js").Side} */ side) => {
    anchor.current = urn;
    const opened = await asked.toggle(urn, side, shown, change);
    const key = opened === null ? "explorer.said.folded" : "explorer.said.opened";
    setSaid(t(key, { name: nodeOf(urn).name, count: count(opened ?? 0) }));
  };
  const unfold = (/** @type {boolean} */ isOpen, /** @type {string} */ urn) => {
    anchor.current = urn;
    asked.unfold(isOpen, urn, shown, change);
  };
  const centre = (/** @type {string} */ urn) => {
    if (urn.startsWith(GROUP)) step({ apart: [...view.apart, urn] });
    else if (!urn.startsWith("hidden:")) go(hrefOfView(centredAt(view, urn)));
  };
  const home = () => scene && camera.centre(centreOf(scene, whole.starts));
  const fit = () => scene && camera.fit(scene.bounds);
  const handlers = {
    select,
    selectEdge: setEdge,
    release,
    focus: (/** @type {string} */ urn) => {
      setFocused(urn);
      setSaid(nodeOf(urn).name);
    },
    hover: setHovered,
    toggle,
    centre,
    pathTo: (/** @type {string} */ urn) => whole.starts.includes(urn) || step({ to: urn, selected: "" }),
    unfold,
    home,
    fit,
    help: () => setHelp((isOpen) => !isOpen),
  };
  const summary = summaryOf(shown, whole.starts);
  const node = opened && whole.nodes.get(opened);
  const close = () => {
    setEdge(null);
    change({ selected: "" });
    /** @type {HTMLElement | null} */ (document.querySelector(".stage"))?.focus();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const inField = /** @type {Element} */ (event.target).closest("input, select, textarea, details");
    if (event.key === "Escape" && !inField && !event.defaultPrevented) release();
  };
  return html`<div class=${isDrawn ? "explorer" : "explorer is-list"} onKeyDown=${pressed}>
    <${Head} view=${view} name=${name} summary=${summary} shown=${shown} whole=${whole} change=${change}>
      <${ViewSwitch} step=${step} isList=${isList} />
    <//>
    <${Controls} view=${view} change=${change} step=${step}>
      <${OnlyField} only=${view.only} selected=${whole.nodes.size} change=${(/** @type {string} */ only) => change({ only })} />
      <${SaveMenu} scene=${isDrawn ? scene : null} shown=${shown} view=${view} name=${name} />
    <//>
    <${Notices} view=${view} graph=${graph} grouping=${grouping} shown=${shown} change=${change} asked=${asked} />
    <div class=${asked.isLoading ? "explorer-body is-loading" : "explorer-body"}>
      ${asked.isLoading && html`<p class="loading-note">${t("loading", { what: nodeOfUrn(view.urn).name })}</p>`}
      ${
        isDrawn
          ? scene &&
            html`<${Stage} scene=${scene} camera=${camera} look=${look} handlers=${handlers} description=${summary}>
              <${ZoomButtons} camera=${camera} fit=${fit} home=${home} help=${handlers.help} />
              ${isHelp && html`<${Help} close=${() => setHelp(false)} />`}
            <//>`
          : html`<${ListView} shown=${shown} starts=${whole.starts} overlay=${view.overlay} caption=${summary} select=${select} />`
      }
      ${edge && html`<${EdgePanel} edge=${edge} graph=${whole} close=${close} />`}
      ${
        node &&
        !edge &&
        html`<${Panel}
          node=${node}
          view=${view}
          shown=${shown}
          starts=${whole.starts}
          toggle=${toggle}
          close=${close}
          apart=${centre}
          isDrawn=${isDrawn}
        />`
      }
    </div>
    <p class="hidden-text" role="status" aria-live="polite">${asked.isLoading ? t("loading", { what: name }) : said}</p>
  </div>`;
}

/**
 * @param {{
 *   view: View, name: string, summary: string, shown: import("./graph.js").Shown, whole: Graph,
 *   change: (part: Partial<View>) => void, children?: any
 * }} properties
 */
function Head({ view, name, summary, shown, whole, change, children = null }) {
  const node = nodeOfUrn(view.urn);
  const hasMore = shown.nodes.length < whole.nodes.size;
  const total = count(whole.nodes.size);
  return html`<header class="explorer-head" data-urn=${view.urn}>
    <h1><span class="kind">${t(`kind.${node.kind}`)}</span> <a class="name" href=${hrefOfNode(node)}><${NameText} text=${name} /></a></h1>
    <p class="summary">
      ${summary} · <span class="shown-count">${t("explorer.shown", { shown: count(shown.nodes.length), total })}</span>
      ${hasMore && html` <button class="small" onClick=${() => change({ isWhole: true, folded: [] })}>${t("explorer.whole", { total })}</button>`}
      ${view.isWhole && html` <button class="small" onClick=${() => change({ isWhole: false })}>${t("explorer.fewer")}</button>`}
    </p>
    ${children}
  </header>`;
}

/**
 * What a reader must know about the picture: what cut it, what grouped it, why it is empty.
 * @param {{
 *   view: View, graph: Graph, grouping: string, shown: import("./graph.js").Shown, asked: any,
 *   change: (part: Partial<View>) => void
 * }} properties
 */
function Notices({ view, graph, grouping, shown, asked, change }) {
  const isForced = grouping && !view.group;
  const isCut = graph.reason && graph.reason !== "depth";
  return html`<div class="notices">
    ${
      isCut &&
      html`<${Cut} shown=${count(graph.nodes.size)} total=${count(graph.nodes.size + graph.omitted)} limit=${graph.reason}>
        ${" "}${t("explorer.cut.hint")}
        ${
          !view.isTable &&
          !view.from &&
          html`<p><button onClick=${() => change({ isTable: true })}>${t("explorer.cut.large")}</button></p>`
        }
      <//>`
    }
    ${graph.bare && html`<p class="message">${t("explorer.bare", { count: count(graph.bare) })}</p>`}
    ${isForced && html`<p class="message">${t("explorer.group.forced", { count: count(graph.nodes.size) })}</p>`}
    ${asked.sideError && html`<${Failure} error=${asked.sideError} />`}
    ${view.to && html`<p class="message">
      ${t(graph.nodes.size ? "explorer.path" : "explorer.path.none", { name: nodeOfUrn(view.to).name })}${" "}
      <button onClick=${() => change({ to: "" })}>${t("explorer.path.end")}</button>
    </p>`}
    ${!view.to && !shown.edges.length && html`<${NothingFound} view=${view} change=${change} />`}
  </div>`;
}
