// A dashboard by its name in the address.
import { FIGURES } from "../figures.js";
import { html } from "../html.js";
import { LazyPage } from "../parts/lazy_page.js";
import { DashboardList } from "./dashboard_list.js";
import MissingPage from "./missing.js";

/** The module of each dashboard, loaded when it is first shown. */
const DASHBOARDS = {
  executive: () => import("./executive.js"),
  "on-call": () => import("./on_call.js"),
  debug: () => import("./debug.js"),
  trust: () => import("./trust.js"),
};

/** Load the page of a figure, which has the address of a dashboard. */
const loadFigure = () => import("./figure.js");

/** @param {{place: import("../router.js").Place}} properties */
export default function DashboardsPage({ place }) {
  const name = place.id;
  const load = FIGURES.includes(name) ? loadFigure : DASHBOARDS[/** @type {keyof typeof DASHBOARDS} */ (name)];
  if (!name) return html`<${DashboardList} names=${Object.keys(DASHBOARDS)} />`;
  if (!load) return html`<${MissingPage} place=${place} />`;
  return html`<${LazyPage} name=${name} load=${load} place=${place} />`;
}
