// Failed checks of datasets and runs by an index, and the tags of columns on the columns, by one
// scan of datasets. A column that only a tag names, and the failed checks of old reports, need
// `headwater rebuild`.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE INDEX run_tests_failed IF NOT EXISTS FOR (n:PipelineRun) ON (n.testsFailed);
CREATE INDEX dataset_checks_failed IF NOT EXISTS FOR (n:Dataset) ON (n.checksFailed);
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL
CALL (d) {
  MATCH (d)-[:HAS_COLUMN]->(c:Column)
  WITH c, [t IN d.tags WHERE t STARTS WITH c.name + ':' | substring(t, size(c.name) + 1)] AS tags
  WHERE tags <> [] AND c.tags IS NULL
  SET c.tags = tags
} IN TRANSACTIONS OF 1000 ROWS;
