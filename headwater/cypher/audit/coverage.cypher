// Return the share of datasets and jobs that are in the lineage, by kind and namespace. A dataset
// counts if a job produces or reads it, a job if it produces or reads a dataset. Also count those
// with columns, with an owner and with a description. Jobs that only contain others, and jobs on
// Spark's RDDs without datasets, are excluded.
// This is a scan over all datasets and jobs, to count them.
// access: read
// params: $limit INTEGER = 100
// returns: kind, namespace, total, inLineage, percent, withColumns, owned, described
// example: headwater cypher coverage
CALL () {
  MATCH (d:Dataset)
  WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
  RETURN 'dataset' AS kind, d AS n,
    EXISTS { (d)-[:FEEDS {current: true}]->(:Job|Dataset) }
      OR EXISTS { (:Job)-[:PRODUCED {current: true}]->(d) }
      OR EXISTS { (:Dataset)-[:FEEDS {current: true}]->(d) } AS wired,
    EXISTS { (d)-[:HAS_COLUMN]->(:Column)<-[:FEEDS]-() } AS columns
  UNION ALL
  MATCH (j:Job)
  WHERE j.deletedAt IS NULL
  WITH j, EXISTS { (:Dataset|Job)-[:FEEDS {current: true}]->(j) }
    OR EXISTS { (j)-[:PRODUCED {current: true}]->() }
    OR EXISTS { (j)-[:FEEDS {current: true}]->() } AS wired
  WHERE wired OR NOT EXISTS { (:Job)-[:PART_OF]->(j) } AND (j.type IS NULL OR j.type <> 'RDD_JOB')
  RETURN 'job' AS kind, j AS n, wired, EXISTS {
    (j)-[:PRODUCED]->(:Dataset)-[:HAS_COLUMN]->(:Column)<-[f:FEEDS WHERE f.job = j.urn]-()
  } AS columns
}
WITH kind, n.namespace AS namespace, count(*) AS total,
  count(CASE WHEN wired THEN 1 END) AS inLineage,
  count(CASE WHEN columns THEN 1 END) AS withColumns,
    count(CASE WHEN n.owners <> [] THEN 1 END) AS owned,
  count(CASE WHEN n.description <> '' THEN 1 END) AS described
RETURN kind, namespace, total, inLineage, round(100.0 * inLineage / total, 1) AS percent,
  withColumns, owned, described
ORDER BY kind, total DESC, namespace
LIMIT $limit
