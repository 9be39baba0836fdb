// A page whose module is loaded when it is first shown.
import { awaited, markReady } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../texts.js";
import { Failure, Loading } from "./messages.js";

/**
 * The default export of the module that `load` returns, with the other properties. `name` decides
 * which module it is.
 * @param {{name: string, load: () => Promise<any>, [property: string]: any}} properties
 */
export function LazyPage({ name, load, ...properties }) {
  const [loaded, setLoaded] = useState(/** @type {any} */ ({}));
  useEffect(() => {
    let isCurrent = true;
    awaited(load()).then(
      (module) => isCurrent && setLoaded({ name, Page: module.default }),
      (error) => isCurrent && setLoaded({ name, error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  useEffect(markReady);
  if (loaded.name !== name) return html`<${Loading} what=${t("app.name")} />`;
  if (loaded.error) return html`<${Failure} error=${loaded.error} again=${() => location.reload()} />`;
  return html`<${loaded.Page} ...${properties} />`;
}
