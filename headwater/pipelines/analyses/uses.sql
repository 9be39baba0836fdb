-- One row for each dataset that a run event reports as read or written.
SELECT run, job, at, producer, type, 'read' AS side, d.dataset, one.facets.schema.fields AS fields,
  one.inputFacets.inputStatistics.rowCount AS rows, one.inputFacets.inputStatistics.size AS bytes
FROM (SELECT *, explode(inputs) AS one FROM events) JOIN jobs USING (job_namespace, job_name)
JOIN datasets d ON d.namespace = one.namespace AND d.name = one.name
UNION ALL
SELECT run, job, at, producer, type, 'write' AS side, d.dataset, one.facets.schema.fields AS fields,
  one.outputFacets.outputStatistics.rowCount AS rows, one.outputFacets.outputStatistics.size AS bytes
FROM (SELECT *, explode(outputs) AS one FROM events) JOIN jobs USING (job_namespace, job_name)
JOIN datasets d ON d.namespace = one.namespace AND d.name = one.name
