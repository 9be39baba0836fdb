// The frame of every view: the bar above, the view of the address below.
import { html, render, useEffect, useRef, useState } from "./html.js";
import { Account } from "./parts/account.js";
import { LazyPage } from "./parts/lazy_page.js";
import { Loading } from "./parts/messages.js";
import { Search } from "./parts/search.js";
import { hrefOf, onPlace, placeOf } from "./router.js";
import { SessionProvider, useReadSession } from "./session.js";
import { store, stored } from "./storage.js";
import { t } from "./texts.js";

/** The module of each view, loaded when it is first shown. */
const VIEWS = {
  home: () => import("./pages/home.js"),
  lineage: () => import("./pages/lineage.js"),
  search: () => import("./pages/search.js"),
  datasets: () => import("./pages/dataset.js"),
  jobs: () => import("./pages/job.js"),
  runs: () => import("./pages/run.js"),
  answers: () => import("./pages/answer.js"),
  findings: () => import("./pages/findings.js"),
  finding: () => import("./pages/finding.js"),
  policies: () => import("./pages/policies.js"),
  failures: () => import("./pages/failures.js"),
  dashboards: () => import("./pages/dashboards.js"),
  "sign-in": () => import("./pages/sign_in.js"),
  missing: () => import("./pages/missing.js"),
};
const THEMES = ["system", "light", "dark"];
const THEME_KEY = "headwater.theme";

/** @param {string} theme */
function applyTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function Theme() {
  const [theme, setTheme] = useState(stored(THEME_KEY) ?? "system");
  const chosen = (/** @type {any} */ event) => {
    store(THEME_KEY, event.target.value);
    applyTheme(event.target.value);
    setTheme(event.target.value);
  };
  return html`<label>
    <span>${t("theme.label")}</span>
    <select value=${theme} onChange=${chosen}>
      ${THEMES.map((name) => html`<option key=${name} value=${name}>${t(`theme.${name}`)}</option>`)}
    </select>
  </label>`;
}

/** @param {{place: import("./router.js").Place, again: () => void}} properties */
function Bar({ place, again }) {
  const links = [
    ["lineage", hrefOf("lineage")],
    ["findings", hrefOf("findings")],
    ["failures", hrefOf("failures")],
    ["dashboards", hrefOf("dashboards")],
  ];
  return html`<header class="bar">
    <a class="skip" href="#content">${t("app.skip")}</a>
    <a class="brand" href="/"><img src="/static/headwater.svg" alt="" width="24" height="24" /> ${t("app.name")}</a>
    <${Search} />
    <nav aria-label=${t("app.navigation")}>
      <ul>
        ${links.map(
          ([name, href]) => html`<li key=${name}>
            <a href=${href} aria-current=${name === place.view ? "page" : undefined}>${t(`nav.${name}`)}</a>
          </li>`,
        )}
      </ul>
    </nav>
    <div class="end"><${Account} again=${again} /></div>
  </header>`;
}

/** Addresses for programs, beside the choice of the theme. */
const PROGRAMS = ["/graphql", "/openapi.json", "/cypher", "/readyz", "/metrics"];

function Foot() {
  return html`<footer class="foot">
    <nav aria-label=${t("foot.programs")}>
      <ul>
        ${PROGRAMS.map((href) => html`<li key=${href}><a href=${href}>${t(`foot.${href.slice(1)}`)}</a></li>`)}
      </ul>
    </nav>
    <${Theme} />
  </footer>`;
}

/** @param {{place: import("./router.js").Place, onDone?: () => void}} properties */
function View({ place, onDone }) {
  const name = /** @type {keyof typeof VIEWS} */ (place.view in VIEWS ? place.view : "missing");
  return html`<${LazyPage} name=${name} load=${VIEWS[name]} place=${place} onDone=${onDone} />`;
}

/**
 * The view, or the form to sign in while the caller needs a key and has none.
 * @param {{place: import("./router.js").Place, session: import("./session.js").Session | null, again: () => void}} properties
 */
function Content({ place, session, again }) {
  if (session === null) return html`<${Loading} what=${t("app.name")} />`;
  if (session.error || session.principal) return html`<${View} place=${place} />`;
  return html`<${View} place=${{ ...place, view: "sign-in" }} onDone=${place.view === "sign-in" ? undefined : again} />`;
}

/**
 * Move the focus to the content when another view is shown, so that reading and Tab go on there.
 * @param {string} view
 */
function useFocus(view) {
  const first = useRef(view);
  useEffect(() => {
    if (first.current === view) return;
    first.current = "";
    document.getElementById("content")?.focus({ preventScroll: true });
  }, [view]);
}

function App() {
  const here = () => placeOf(location.pathname, location.search);
  const [place, setPlace] = useState(here);
  const { session, again } = useReadSession();
  useEffect(() => onPlace(() => setPlace(here())), []);
  useFocus(`${place.view} ${place.id}`);
  const isWide = place.view === "lineage";
  return html`<${SessionProvider} value=${session?.principal ?? null}>
    <${Bar} place=${place} again=${again} />
    <main id="content" tabindex="-1" class=${isWide ? "view wide" : "view"}>
      <${Content} place=${place} session=${session} again=${again} />
    </main>
    ${!isWide && html`<${Foot} />`}
  <//>`;
}

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
