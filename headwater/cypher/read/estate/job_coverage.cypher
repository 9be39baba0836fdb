// Count by namespace the jobs that contain no others, and those with inputs, outputs or owners. A
// job on Spark's RDDs counts only if it writes: the others list files or collect rows.
// This is a scan over all jobs, to count them.
// access: read
// params: $namespace STRING = "", $visible LIST<STRING> = null, $limit INTEGER = 5000
// returns: namespace, counts
// example: headwater coverage
MATCH (j:Job)
WHERE j.deletedAt IS NULL AND ($namespace = '' OR j.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  AND NOT EXISTS { (part:Job)-[:PART_OF]->(j)
    WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p) }
WITH j, EXISTS { MATCH ()-[f:FEEDS]->(j) WHERE f.current } AS reads,
  EXISTS { MATCH (j)-[p:PRODUCED|FEEDS]->() WHERE p.current } AS makes
WHERE makes OR j.type IS NULL OR j.type <> 'RDD_JOB'
WITH j.namespace AS namespace, count(j) AS jobs, count(CASE WHEN reads THEN 1 END) AS inputs,
  count(CASE WHEN makes THEN 1 END) AS outputs, count(CASE WHEN reads AND makes THEN 1 END) AS both,
  count(CASE WHEN size(coalesce(j.owners, [])) > 0 THEN 1 END) AS owned
RETURN namespace,
  {jobs: jobs, with_inputs: inputs, with_outputs: outputs, with_inputs_and_outputs: both,
    owned_jobs: owned} AS counts
ORDER BY namespace
LIMIT $limit
