// Return how a column derives from another, one row for each job. `datasetLevel`: the source feeds
// the whole dataset of the target column.
// access: read
// params: $pairs LIST<MAP>, $limit INTEGER = 50000
// returns: source, target, job, transformations, datasetLevel
// example: read by columnLineage
UNWIND $pairs AS pair
CALL (pair) {
  MATCH (:Column {urn: pair.source})-[e:FEEDS]->(:Column {urn: pair.target})
    RETURN e, false AS datasetLevel
  UNION ALL
  MATCH (:Column {urn: pair.source})-[e:FEEDS]->(:Dataset)
    -[:HAS_COLUMN]->(:Column {urn: pair.target})
  RETURN e, true AS datasetLevel
}
RETURN pair.source AS source, pair.target AS target, e.job AS job,
  e.transformations AS transformations, datasetLevel
ORDER BY source, target, datasetLevel, job
LIMIT $limit
