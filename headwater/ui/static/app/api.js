// Questions to the API. Every question is a stored GraphQL document of headwater/ui/documents, named
// page.NAME, so anybody can send the same one.

/** An answer that did not come, with what to do about it. */
export class AskError extends Error {
  /**
   * @param {string} message
   * @param {string} code
   * @param {string} hint
   */
  constructor(message, code, hint) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/**
 * @typedef {{data: any, errors: {message: string, path?: (string | number)[], extensions?: {code?: string, hint?: string}}[]}} Answer
 */

/** The close code of a WebSocket whose session or key has ended. */
const NO_VALID_KEY = 4401;

let waiting = 0;
/** @type {number | undefined} */
let settling;

/** Set data-ready of the body: "true" once the view is drawn and no answer is awaited. */
export function markReady() {
  clearTimeout(settling);
  if (waiting) document.body.dataset.ready = "false";
  // A view that was drawn may ask at once for more.
  else settling = setTimeout(() => (document.body.dataset.ready = waiting ? "false" : "true"), 30);
}

/**
 * Keep data-ready "false" until a promise ends.
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function awaited(promise) {
  waiting += 1;
  markReady();
  try {
    return await promise;
  } finally {
    waiting -= 1;
    markReady();
  }
}

/**
 * Send a question; return its data and the errors of single fields.
 * @param {string} name the name of the document
 * @param {Record<string, unknown>} [variables]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer>}
 */
export function ask(name, variables = {}, signal) {
  const sent = send(name, variables, signal).catch((error) => {
    // A server that has just started plans each question once; the second try has the plan.
    if (error.code !== "TIMEOUT") throw error;
    return send(name, variables, signal);
  });
  return awaited(sent);
}

/**
 * Send a mutation, once; return its data.
 * @param {string} name the name of the document
 * @param {Record<string, unknown>} variables
 * @returns {Promise<Answer>}
 */
export function change(name, variables) {
  return awaited(send(name, variables));
}

/**
 * @param {string} name
 * @param {Record<string, unknown>} variables
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer>}
 */
async function send(name, variables, signal) {
  let response;
  try {
    response = await fetch("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ documentId: `page.${name}`, variables }),
      credentials: "same-origin",
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AskError("Headwater does not answer.", "OFFLINE", "Check that it runs, then retry.");
  }
  if (response.status === 401) {
    window.dispatchEvent(new Event("headwater:refused"));
    throw new AskError("This Headwater asks for a key.", "UNAUTHORIZED", "Sign in to go on.");
  }
  const answer = await response.json().catch(() => null);
  const [error] = answer?.errors ?? [];
  if (error?.extensions?.code === "FORBIDDEN") window.dispatchEvent(new Event("headwater:refused"));
  if (!answer || (error && !hasData(answer.data))) {
    const message = error?.message ?? answer?.error?.message ?? `status ${response.status}`;
    const hint = error?.extensions?.hint ?? answer?.error?.hint ?? "Retry in a moment.";
    throw new AskError(message, error?.extensions?.code ?? answer?.error?.code ?? "HTTP", hint);
  }
  return { data: answer.data, errors: answer.errors ?? [] };
}

/**
 * Read a JSON answer of REST, for what GraphQL does not have.
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function readJson(path, signal) {
  return awaited(received(path, signal));
}

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
async function received(path, signal) {
  const accept = { accept: "application/json" };
  const response = await fetch(path, { headers: accept, credentials: "same-origin", signal });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const code = { 401: "UNAUTHORIZED", 403: "FORBIDDEN" }[response.status] ?? "HTTP";
  const { message = `status ${response.status}`, hint = "Retry in a moment." } = answer?.error ?? answer ?? {};
  throw new AskError(message, code, hint);
}

/** @param {Record<string, unknown> | null | undefined} data */
function hasData(data) {
  return Boolean(data) && Object.values(data ?? {}).some((value) => value !== null);
}

/**
 * Subscribe to a document; call `onData` for every message, until the returned function is called.
 * The connection is opened again, with growing pauses, when it is lost.
 * @param {string} query the text of the subscription
 * @param {Record<string, unknown>} variables
 * @param {(data: any) => void} onData
 */
export function watch(query, variables, onData) {
  let pause = 1000;
  let isOver = false;
  /** @type {WebSocket | undefined} */
  let socket;
  const open = () => {
    if (isOver) return;
    socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/graphql`, "graphql-transport-ws");
    const transmit = (/** @type {object} */ message) => socket?.send(JSON.stringify(message));
    socket.onopen = () => transmit({ type: "connection_init", payload: {} });
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "connection_ack") {
        pause = 1000;
        transmit({ id: "1", type: "subscribe", payload: { query, variables } });
      } else if (message.type === "ping") transmit({ type: "pong" });
      else if (message.type === "next" && message.payload.data) onData(message.payload.data);
    };
    socket.onclose = ({ code }) => {
      if (code === NO_VALID_KEY) window.dispatchEvent(new Event("headwater:refused"));
      if (!isOver) setTimeout(open, pause);
      pause = Math.min(pause * 2, 30000);
    };
  };
  open();
  return () => {
    isOver = true;
    socket?.close();
  };
}
