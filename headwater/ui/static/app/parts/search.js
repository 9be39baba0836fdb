// The search field of every view: suggestions while one types, and the nodes opened last.
import { ask } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { go, hrefOf, hrefOfNode } from "../router.js";
import { store, stored } from "../storage.js";
import { t } from "../texts.js";

const PAUSE_MILLISECONDS = 120;
const SUGGESTIONS = 8;
const RECENT_KEY = "headwater.recent";
const RECENT_MAX = 8;

/** @typedef {{urn: string, kind: string, name: string, namespace?: string | null}} Found */

/** @returns {Found[]} */
export function recentNodes() {
  try {
    return JSON.parse(stored(RECENT_KEY) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {Found} node */
export function rememberNode({ urn, kind, name, namespace }) {
  const others = recentNodes().filter((other) => other.urn !== urn);
  const kept = [{ urn, kind, name, namespace }, ...others].slice(0, RECENT_MAX);
  store(RECENT_KEY, JSON.stringify(kept));
}

export function Search() {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {Found[]} */ ([]));
  const [selected, setSelected] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const isRecent = text.trim() === "";
  const shown = isRecent ? recentNodes() : found;

  useEffect(() => {
    const stop = new AbortController();
    if (!isRecent && isOpen) {
      const timer = setTimeout(() => {
        ask("Suggestions", { text: text.trim(), first: SUGGESTIONS }, stop.signal).then(
          ({ data }) => setFound(data.search.edges.map((/** @type {any} */ edge) => edge.node)),
          () => setFound([]),
        );
      }, PAUSE_MILLISECONDS);
      stop.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    return () => stop.abort();
  }, [text, isOpen]);
  useEffect(() => {
    const focus = (/** @type {KeyboardEvent} */ event) => {
      const inField = /** @type {Element} */ (event.target).closest?.("input, textarea, select");
      if (event.key !== "/" || inField || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);

  const open = (/** @type {Found | undefined} */ node) => {
    setOpen(false);
    setSelected(-1);
    field.current?.blur();
    if (node) {
      rememberNode(node);
      setText("");
      go(hrefOfNode(node));
    } else if (!isRecent) go(hrefOf("search", "", { text: text.trim() }));
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setSelected((number) => Math.max(-1, Math.min(shown.length - 1, number + step)));
    } else if (event.key === "Enter") open(shown[selected]);
    else if (event.key === "Escape") setOpen(false);
  };
  const isListed = isOpen && shown.length > 0;
  return html`<div class="search" role="search" aria-label=${t("search.title")}>
    <input
      ref=${field}
      type="search"
      role="combobox"
      aria-label=${t("search.label")}
      aria-expanded=${isListed}
      aria-controls="suggestions"
      aria-activedescendant=${isListed && selected >= 0 ? `suggestion-${selected}` : undefined}
      autocomplete="off"
      spellcheck="false"
      placeholder=${t("search.hint")}
      value=${text}
      onInput=${(/** @type {any} */ event) => {
        setText(event.target.value);
        setSelected(-1);
        setOpen(true);
      }}
      onFocus=${() => setOpen(true)}
      onBlur=${() => setTimeout(() => setOpen(false), 150)}
      onKeyDown=${pressed}
    />
    <ul id="suggestions" class="suggestions" role="listbox" aria-label=${isRecent ? t("search.recent") : t("search.suggestions")} hidden=${!isListed}>
      ${shown.map(
        (node, index) => html`<li
          id=${`suggestion-${index}`}
          key=${node.urn}
          role="option"
          data-urn=${node.urn}
          aria-selected=${index === selected}
          onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()}
          onClick=${() => open(node)}
        >
          <span class="kind">${t(`kind.${node.kind}`)}</span>
          <span class="name"><bdi>${node.name}</bdi></span>
          ${node.namespace ? html`<span class="namespace"><bdi>${node.namespace}</bdi></span>` : ""}
        </li>`,
      )}
    </ul>
  </div>`;
}
