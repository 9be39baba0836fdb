// What a view shows instead of an answer: loading, empty, cut, forbidden, failed.
import { html, useEffect, useState } from "../html.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";

const SLOW_MILLISECONDS = 1000;

/** @param {{what: string, lines?: number}} properties */
export function Loading({ what, lines = 3 }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="panel" role="status">
    <p>${t("loading", { what })}${isSlow ? ` ${t("loading.slow")}` : ""}</p>
    ${Array.from({ length: lines }, (_, row) => html`<div class="skeleton" key=${row} />`)}
  </div>`;
}

/** @param {{title?: string, hint?: string, children?: any}} properties */
export function Empty({ title = t("empty.title"), hint = "", children = null }) {
  return html`<div class="message"><strong>${title}</strong>${hint} ${children}</div>`;
}

/**
 * An answer that was cut: how much of it is shown, and which limit cut it.
 * @param {{shown: string, total: string, limit?: string | null, children?: any}} properties
 */
export function Cut({ shown, total, limit = null, children = null }) {
  return html`<div class="message cut" role="status">
    <strong>${t("cut.title", { shown, total })}</strong>
    ${limit ? t("cut.hint", { limit }) : ""} ${children}
  </div>`;
}

/** @param {{error: any, again?: () => void}} properties */
export function Failure({ error, again }) {
  const isUnauthorized = ["UNAUTHORIZED", "FORBIDDEN"].includes(error.code);
  const back = location.pathname + location.search;
  return html`<div class="message failure" role="alert">
    <strong>${error.message}</strong>
    <p>${error.hint ?? ""}</p>
    ${
      isUnauthorized
        ? html`<a href=${hrefOf("sign-in", "", { back })}>${t(error.code === "FORBIDDEN" ? "error.other" : "error.signin")}</a>`
        : again && html`<button onClick=${again}>${t("error.again")}</button>`
    }
  </div>`;
}

/**
 * The three outcomes of a question: loading, failure, or what `children` draws of the data.
 * @param {{asked: import("../use_ask.js").Asked, what: string, children: (data: any) => any}} properties
 */
export function Outcome({ asked, what, children }) {
  if (asked.error) return html`<${Failure} error=${asked.error} again=${asked.again} />`;
  if (!asked.data) return html`<${Loading} what=${what} />`;
  return children(asked.data);
}

/** The answer to an address that names nothing, and to one that cannot name anything. */
const UNKNOWN = new Set(["NOT_FOUND", "BAD_REQUEST"]);

/**
 * What the page of one object shows: what `children` draws of it, or loading, a failure, or `missing`.
 * @param {{asked: import("../use_ask.js").Asked, found: any, what: string, missing: any, children: (found: any) => any}} properties
 */
export function SingleOutcome({ asked, found, what, missing, children }) {
  if (found) return children(found);
  if (asked.isLoading) return html`<${Loading} what=${what} />`;
  const [first] = asked.errors;
  const error = asked.error ?? (first && { message: first.message, ...first.extensions });
  if (error && !UNKNOWN.has(error.code)) return html`<${Failure} error=${error} again=${asked.again} />`;
  return missing;
}
