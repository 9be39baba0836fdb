// The quality checks of a dataset, and the answers that cite it.
import { count } from "../format.js";
import { html } from "../html.js";
import { Name, Owners, Time } from "../parts/facts.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section, useSeen } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable, withValues } from "../parts/table.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";

const ANSWERS = 50;

/** @param {{urn: string}} properties */
export function Quality({ urn }) {
  const later = useSeen();
  const { isSeen } = later;
  const asked = useAsk(isSeen ? "DatasetQuality" : null, { urn });
  return html`<${Section} id="quality" title=${t("dataset.quality")} later=${later}>
    <${FieldOutcome} asked=${asked} field="quality" what=${t("dataset.quality")}>
      ${(/** @type {any} */ { assertions, failed }) =>
        assertions.length
          ? html`<${DataTable}
              caption=${t("dataset.quality.caption", { failed: count(failed), total: count(assertions.length) })}
              columns=${withValues(checkColumns(), assertions)}
              rows=${assertions}
              rowKey=${(/** @type {any} */ check) => [check.name, check.column, check.versionUrn].join(" ")}
              isStacked=${true}
              file="checks"
            />`
          : html`<${Empty} title=${t("dataset.quality.none")} hint=${t("dataset.quality.none.hint")} />`}
    <//>
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function checkColumns() {
  return [
    { title: t("column.state"), value: result, cell: (row) => html`<${State} status=${row.success ? "COMPLETE" : "FAIL"} word=${result(row)} />` },
    ...measuredColumns(),
    { title: t("column.run"), value: (row) => row.runUrn, cell: (row) => row.runUrn && html`<${NodeLink} node=${nodeOfUrn(row.runUrn)} showKind=${false} />` },
  ];
}

/**
 * The columns of checks, on the pages of datasets and of runs.
 * @returns {import("../parts/table.js").Column[]}
 */
export function measuredColumns() {
  const text = (/** @type {string | null} */ value) => html`<${Name} text=${value} />`;
  return [
    { title: t("column.check"), value: (row) => row.name, cell: (row) => text(row.name) },
    { title: t("column.of"), value: (row) => row.column, cell: (row) => text(row.column) },
    { title: t("column.severity"), value: (row) => row.severity },
    { title: t("column.expected"), value: (row) => row.expected, cell: (row) => text(row.expected) },
    { title: t("column.actual"), value: (row) => row.actual, cell: (row) => text(row.actual) },
    { title: t("column.reported"), value: (row) => row.reportedAt, cell: (row) => html`<${Time} at=${row.reportedAt} />` },
  ];
}

/** @param {any} check */
function result({ success }) {
  return success ? t("check.passed") : t("check.failed");
}

/** @param {{urn: string}} properties */
export function Citations({ urn }) {
  const later = useSeen();
  const { isSeen } = later;
  const asked = useAsk(isSeen ? "DatasetAnswers" : null, { urn, first: ANSWERS });
  return html`<${Section} id="answers" title=${t("dataset.answers")} later=${later}>
    <${FieldOutcome} asked=${asked} field="dataset" what=${t("dataset.answers")}>
      ${(/** @type {any} */ { answers }) =>
        answers.nodes.length
          ? html`<${DataTable}
                caption=${t("dataset.answers")}
                columns=${answerColumns()}
                rows=${answers.nodes}
                rowKey=${(/** @type {any} */ answer) => answer.urn}
                isStacked=${true}
                file="answers"
              />
              ${answers.totalCount > answers.nodes.length && html`<${Cut} shown=${count(answers.nodes.length)} total=${count(answers.totalCount)} />`}`
          : html`<${Empty} title=${t("dataset.answers.none")} />`}
    <//>
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function answerColumns() {
  const link = (/** @type {any} */ row) =>
    html`<${NodeLink} node=${{ urn: row.urn, kind: "ANSWER", name: row.answerId }} showKind=${false} />`;
  return [
    { title: t("column.answer"), value: (row) => row.answerId, cell: link },
    { title: t("column.content"), value: (row) => row.content, cell: (row) => html`<${Name} text=${row.content} />` },
    { title: t("column.when"), value: (row) => row.generatedAt, cell: (row) => html`<${Time} at=${row.generatedAt} />` },
    { title: t("column.owners"), value: (row) => row.owners.join(", "), cell: (row) => html`<${Owners} names=${row.owners} />` },
  ];
}
