// Every text of the page, in one place, so that it can be translated. {name} is filled in by `t`.

const TEXTS = {
  "app.name": "Headwater",
  "app.skip": "Skip to the content",
  "app.navigation": "Main",
  "nav.lineage": "Explore",
  "nav.failures": "Failures",
  "nav.executive": "Overview",
  "nav.on-call": "On call",
  "nav.debug": "Debug",
  "nav.trust": "Trust",
  "theme.label": "Theme",
  "theme.system": "as the system",
  "theme.light": "light",
  "theme.dark": "dark",

  "search.label": "Search datasets, jobs and answers",
  "search.hint": "Search ( / )",
  "search.suggestions": "Suggestions",
  "search.recent": "Recent",
  "search.none": "Nothing matches “{text}”.",
  "search.none.hint": "Search for a word of a name, a column, a tag or an owner.",
  "search.found": "{count} found for “{text}”",
  "search.title": "Search",

  "home.title": "Where does it come from, and what does it touch?",
  "home.lead": "Search for a dataset, a job or an answer, or start with one of these.",
  "home.failures": "Failed runs of the last day",
  "home.failures.none": "No run failed in the last day.",
  "home.answers": "Newest answers",
  "home.answers.none": "No answer yet. `cite` in a Spark job or `registerAnswer` in GraphQL records one.",
  "home.runs": "Newest runs",
  "home.runs.none": "No run yet.",
  "home.runs.none.hint": "Send OpenLineage events to POST /api/v1/lineage, or run `headwater demo`.",
  "home.programs": "For programs",

  "missing.title": "There is no page at this address",
  "missing.hint": "Check the address, or search for a name.",

  "signin.title": "Sign in",
  "signin.lead": "This Headwater asks for an API key. The key stays on the server; this browser gets a session.",
  "signin.key": "API key",
  "signin.submit": "Sign in",
  "signin.refused": "The key was refused: {message}",

  "loading": "Loading {what} …",
  "loading.slow": "This takes longer than usual.",
  "error.again": "Retry",
  "error.signin": "Sign in",
  "empty.title": "Nothing to show",
  "cut.title": "{shown} of {total} shown",
  "cut.hint": "The answer reached a limit: {limit}.",
  "hidden.name": "hidden node",
  "hidden.hint": "Your key does not see it. Ask an administrator for its namespace.",

  "table.sort": "Sort by {column}",
  "table.csv": "CSV",
  "table.csv.label": "Save “{caption}” as CSV",

  "state.complete": "complete",
  "state.running": "running",
  "state.failed": "failed",
  "state.aborted": "aborted",
  "state.abandoned": "no news",
  "state.stale": "stale",
  "state.partial": "partial",
  "state.unknown": "no runs",

  "kind.DATASET": "dataset",
  "kind.JOB": "job",
  "kind.PIPELINE_RUN": "run",
  "kind.SOURCE": "source",
  "kind.ARTIFACT": "version",
  "kind.ANSWER": "answer",
  "kind.COLUMN": "column",
  "kind.HIDDEN": "hidden",
};

/**
 * Return a text with its values filled in.
 * @param {keyof typeof TEXTS | string} key
 * @param {Record<string, unknown>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = TEXTS[/** @type {keyof typeof TEXTS} */ (key)];
  if (text === undefined) throw new Error(`no text is named ${key}`);
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
