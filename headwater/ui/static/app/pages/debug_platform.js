// How the platform itself does: events per second, what waits, lag, dead letters, latencies.
import { count, duration } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { Empty } from "../parts/messages.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { Tile } from "../parts/tile.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const REFRESH_MILLISECONDS = 5000;
const DIGITS = 10;

export function Platform() {
  const asked = useAsk("DebugPlatform", {});
  const platform = asked.data?.platform;
  const [readings, setReadings] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    if (platform) setReadings((/** @type {any[]} */ known) => [...known.slice(-1), platform]);
  }, [platform?.asOf]);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && asked.again(), REFRESH_MILLISECONDS);
    return () => clearInterval(timer);
  }, [asked.again]);
  return html`<${Section} id="platform" title=${t("debug.platform")}>
    <${FieldOutcome} asked=${asked} field="platform" what=${t("debug.platform")}>
      ${(/** @type {any} */ now) => html`<${Figures} now=${now} before=${readings.length > 1 ? readings[0] : null} />`}
    <//>
  <//>`;
}

/** @param {{now: any, before: any}} properties */
function Figures({ now, before }) {
  const seconds = before ? (Date.parse(now.asOf) - Date.parse(before.asOf)) / 1000 : 0;
  const rate = seconds > 0 ? Math.round(((now.received - before.received) / seconds) * DIGITS) / DIGITS : null;
  return html`${!now.neo4jUp && html`<div class="message failure" role="alert">${t("debug.platform.down")}</div>`}
    <div class="tiles">
      <${Tile} figure="ingest-rate" label=${t("debug.platform.rate")} value=${rate} of=${seconds > 0 && t("debug.platform.rate.of", { seconds: duration(seconds) })} asOf=${now.asOf} />
      <${Tile} figure="waiting-events" label=${t("debug.platform.waiting")} value=${now.waiting} of=${now.waiting > 0 && t("debug.platform.waiting.of", { time: duration(now.oldestWaitingSeconds) })} />
      <${Tile} figure="lag" label=${t("debug.platform.lag")} value=${now.lag.p95} unit="SECONDS" of=${now.lag.count > 0 && t("debug.platform.lag.of", { count: count(now.lag.count), median: duration(now.lag.median) })} />
      <${Tile} figure="dead-letters" label=${t("debug.platform.dead")} value=${now.dead} of=${t("debug.platform.dead.of", { count: count(now.received) })} />
      <${Tile} figure="refused-events" label=${t("debug.platform.refused")} value=${now.refused} of=${t("debug.platform.refused.of")} />
    </div>
    <div class="panels broad">
      <div><h3>${t("debug.platform.queries")}</h3><${Latencies} rows=${now.queries} title=${t("debug.column.query")} caption=${t("debug.platform.queries")} /></div>
      <div><h3>${t("debug.platform.requests")}</h3><${Latencies} rows=${now.requests} title=${t("debug.column.route")} caption=${t("debug.platform.requests")} /></div>
    </div>`;
}

/** @param {{rows: any[], title: string, caption: string}} properties */
function Latencies({ rows, title, caption }) {
  if (!rows.length) return html`<${Empty} title=${t("debug.platform.none")} />`;
  const columns = [
    { title, value: (/** @type {any} */ row) => row.name, cell: (/** @type {any} */ row) => html`<bdi class="mono name">${row.name}</bdi>` },
    { title: t("debug.column.count"), value: (/** @type {any} */ row) => Number(row.count), cell: (/** @type {any} */ row) => count(row.count), isNumber: true },
    { title: t("debug.column.median"), value: (/** @type {any} */ row) => row.median, cell: (/** @type {any} */ row) => duration(row.median), isNumber: true },
    { title: t("debug.column.p95"), value: (/** @type {any} */ row) => row.p95, cell: (/** @type {any} */ row) => duration(row.p95), isNumber: true },
  ];
  return html`<${DataTable} caption=${caption} columns=${columns} rows=${rows} rowKey=${(/** @type {any} */ row) => row.name} file="latencies" />`;
}
