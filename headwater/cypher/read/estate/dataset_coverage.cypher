// Count by namespace the datasets that were not dropped, and those that are connected to jobs,
// produced, read or described. This is a scan over all datasets, to count them.
// access: read
// params: $namespace STRING = "", $visible LIST<STRING> = null, $limit INTEGER = 5000
// returns: namespace, counts
// example: headwater coverage
MATCH (d:Dataset)
WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL AND ($namespace = '' OR d.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
WITH d,
  EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
    OR EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current } AS produced,
  EXISTS { MATCH (d)-[f:FEEDS]->(:Job|Dataset) WHERE f.current } AS read,
  EXISTS { (d)-[:FEEDS]->() }
    OR EXISTS { (d)<-[:VERSION_OF]-(:Artifact|Source)-[:CITED_BY]->(:Answer) }
    OR EXISTS { (d)-[:HAS_COLUMN]->(:Column)-[:CITED_BY]->(:Answer) } AS used,
  EXISTS { (d)-[:HAS_COLUMN]->(:Column)<-[:FEEDS]-(:Column) } AS columns
WITH d.namespace AS namespace, count(d) AS datasets,
  count(CASE WHEN produced OR read THEN 1 END) AS connected,
  count(CASE WHEN produced THEN 1 END) AS produced,
    count(CASE WHEN produced AND columns THEN 1 END) AS columns,
  count(CASE WHEN produced AND NOT used THEN 1 END) AS unknown,
  count(CASE WHEN size(coalesce(d.owners, [])) > 0 THEN 1 END) AS owned,
  count(d.description) AS described, count(d.schema) AS schemas
RETURN namespace, {datasets: datasets, connected: connected, produced: produced,
  with_column_lineage: columns,
  unknown_downstreams: unknown, owned_datasets: owned, described_datasets: described,
    with_schema: schemas} AS counts
ORDER BY namespace
LIMIT $limit
