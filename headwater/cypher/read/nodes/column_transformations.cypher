// Return how a column derives from another, one row for each job. `whole`: the source feeds the
// whole dataset of the target column.
// access: read
// params: $pairs LIST<MAP>, $limit INTEGER = 50000
// returns: source, target, job, ways, whole
// example: read by columnLineage
UNWIND $pairs AS pair
CALL (pair) {
  MATCH (:Column {urn: pair.source})-[e:FEEDS]->(:Column {urn: pair.target}) RETURN e, false AS whole
  UNION ALL
  MATCH (:Column {urn: pair.source})-[e:FEEDS]->(:Dataset)-[:HAS_COLUMN]->(:Column {urn: pair.target})
  RETURN e, true AS whole
}
RETURN pair.source AS source, pair.target AS target, e.job AS job, e.transformations AS ways, whole
ORDER BY source, target, whole, job
LIMIT $limit
