// A dashboard by its name in the address.
import { awaited, markReady } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { Failure, Loading } from "../parts/messages.js";
import { t } from "../texts.js";
import MissingPage from "./missing.js";

/** The module of each dashboard, loaded when it is first shown. */
const DASHBOARDS = {
  "on-call": () => import("./on_call.js"),
  debug: () => import("./debug.js"),
};

/** @param {{place: import("../router.js").Place}} properties */
export default function DashboardsPage({ place }) {
  const [loaded, setLoaded] = useState(/** @type {any} */ ({}));
  const name = place.id;
  const load = DASHBOARDS[/** @type {keyof typeof DASHBOARDS} */ (name)];
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
  if (!load) return html`<${MissingPage} place=${place} />`;
  if (loaded.name !== name) return html`<${Loading} what=${t("app.name")} />`;
  if (loaded.error) return html`<${Failure} error=${loaded.error} again=${() => location.reload()} />`;
  return html`<${loaded.Page} place=${place} />`;
}
