// Return the jobs without inputs or without outputs, of those that read/estate/job_coverage counts.
// This is a scan over all jobs, to find them.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: urn
// example: headwater figures coverage
MATCH (j:Job)
WHERE j.deletedAt IS NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  AND NOT EXISTS { (part:Job)-[:PART_OF]->(j)
    WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p) }
WITH j, EXISTS { MATCH ()-[f:FEEDS]->(j) WHERE f.current } AS reads,
  EXISTS { MATCH (j)-[p:PRODUCED|FEEDS]->() WHERE p.current } AS makes
WHERE (makes OR j.type IS NULL OR j.type <> 'RDD_JOB') AND NOT (reads AND makes)
RETURN j.urn AS urn
ORDER BY urn
LIMIT $limit
