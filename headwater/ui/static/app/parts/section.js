// A section of a page, which asks for its content when the reader scrolls to it.
import { html, useEffect, useRef, useState } from "../html.js";
import { Failure, Outcome } from "./messages.js";

/** How far below the window a section begins to load. */
const MARGIN = "300px";

/** @typedef {{frame: any, isSeen: boolean}} Later */

/**
 * Return a frame for a section, and whether the reader has scrolled near it.
 * @returns {Later}
 */
export function useSeen() {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!frame.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true),
      { rootMargin: MARGIN },
    );
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return { frame, isSeen };
}

/** @param {{id: string, title: string, note?: any, later?: Later, children?: any}} properties */
export function Section({ id, title, note = null, later, children }) {
  const isAwaited = later && !later.isSeen;
  return html`<section class=${isAwaited ? "panel awaited" : "panel"} id=${id} aria-labelledby=${`${id}-title`} ref=${later?.frame}>
    <div class="section-head"><h2 id=${`${id}-title`}>${title}</h2>${note}</div>
    ${isAwaited ? html`<div class="skeleton" />` : children}
  </section>`;
}

/**
 * The outcome of one field of an answer: its error, or what `children` draws of its value. A field
 * that fails leaves the others as they are.
 * @param {{asked: import("../use_ask.js").Asked, field: string, what: string, children: (value: any) => any}} properties
 */
export function FieldOutcome({ asked, field, what, children }) {
  return html`<${Outcome} asked=${asked} what=${what}>
    ${(/** @type {any} */ data) => {
      if (data[field] !== null && data[field] !== undefined) return children(data[field]);
      return html`<${FieldFailure} asked=${asked} field=${field} what=${what} />`;
    }}
  <//>`;
}

/**
 * The error of a field or of a part of it, with what to do; nothing if there is neither an error nor
 * `what` was asked for.
 * @param {{asked: import("../use_ask.js").Asked, field: string, what?: string}} properties
 */
export function FieldFailure({ asked, field, what = "" }) {
  const error = asked.errors.find(({ path }) => path?.[0] === field);
  if (!error && !what) return null;
  const { code = "", hint = "" } = error?.extensions ?? {};
  const shown = { message: error?.message ?? what, code, hint };
  return html`<${Failure} error=${shown} again=${asked.isLoading ? undefined : asked.again} />`;
}
