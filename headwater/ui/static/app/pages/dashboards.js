// A dashboard by its name in the address.
import { awaited, markReady } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { Failure, Loading } from "../parts/messages.js";
import { FIGURES } from "../figures.js";
import { t } from "../texts.js";
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
  const [loaded, setLoaded] = useState(/** @type {any} */ ({}));
  const name = place.id;
  const load = FIGURES.includes(name) ? loadFigure : DASHBOARDS[/** @type {keyof typeof DASHBOARDS} */ (name)];
  useEffect(() => {
    let isCurrent = true;
    if (load) {
      awaited(load()).then(
        (module) => isCurrent && setLoaded({ name, Page: module.default }),
        (error) => isCurrent && setLoaded({ name, error }),
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [name]);
  useEffect(markReady);
  if (!name) return html`<${DashboardList} names=${Object.keys(DASHBOARDS)} />`;
  if (!load) return html`<${MissingPage} place=${place} />`;
  if (loaded.name !== name) return html`<${Loading} what=${t("app.name")} />`;
  if (loaded.error) return html`<${Failure} error=${loaded.error} again=${() => location.reload()} />`;
  return html`<${loaded.Page} place=${place} />`;
}
