// Whose session it is. The browser keeps it in a cookie that no script reads; the server knows whose.
import { awaited } from "./api.js";
import { createContext, useCallback, useContext, useEffect, useState } from "./html.js";
import { forget } from "./storage.js";

/**
 * @typedef {{name: string, scopes: string[], namespaces: string[], anonymous: boolean,
 *   displayName?: string}} Principal
 * @typedef {{principal: Principal | null, expires: string | null, provider?: string, error?: any}} Session
 */

const JSON_HEADERS = { "content-type": "application/json" };
/** @type {any} */
const SessionContext = createContext(null);
export const SessionProvider = SessionContext.Provider;

/** @returns {Promise<Session>} */
export async function readSession() {
  const response = await fetch("/session", { credentials: "same-origin" });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

/**
 * Start a session of a key; return why it was refused, or "".
 * @param {string} key
 * @returns {Promise<string>}
 */
export async function signIn(key) {
  const body = JSON.stringify({ key });
  const response = await fetch("/session", { method: "POST", headers: JSON_HEADERS, body });
  if (response.ok) return "";
  const answer = await response.json().catch(() => null);
  return answer?.error?.message ?? `status ${response.status}`;
}

/** End the session of this browser, and forget what its user looked at. */
export async function signOut() {
  forget(["headwater.theme"]);
  await fetch("/session", { method: "DELETE" });
}

/**
 * Read the session once, and again when an answer was refused: it may have ended.
 * @returns {{session: Session | null, again: () => void}}
 */
export function useReadSession() {
  const [session, setSession] = useState(/** @type {Session | null} */ (null));
  const again = useCallback(() => {
    awaited(readSession()).then(setSession, (error) => setSession({ principal: null, expires: null, error }));
  }, []);
  useEffect(() => {
    again();
    window.addEventListener("headwater:refused", again);
    return () => window.removeEventListener("headwater:refused", again);
  }, []);
  return { session, again };
}

/** @returns {Principal | null} */
export function usePrincipal() {
  return useContext(SessionContext);
}

/**
 * Return true if a principal has a scope; admin includes every scope.
 * @param {Principal | null} principal
 * @param {string} scope
 */
export function mayDo(principal, scope) {
  return Boolean(principal && (principal.scopes.includes(scope) || principal.scopes.includes("admin")));
}
