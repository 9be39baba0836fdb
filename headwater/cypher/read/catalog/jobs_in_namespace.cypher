// Return a page of the jobs of a namespace by name, and their total. $states keeps the jobs whose
// newest visible run has one of these states.
// access: read
// params: $namespace STRING, $visible LIST<STRING> = null, $states LIST<STRING>,
//   $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/catalog/jobs_in_namespace --param namespace=spark --param
//   states=null
MATCH (j:Job)
WHERE j.namespace = $namespace AND j.name IS NOT NULL AND j.deletedAt IS NULL
  AND ($states IS NULL OR COLLECT {
  CALL (j) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL
      AND EXISTS { (r)-[:RUN_OF]->(j) }
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT 1
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = j.urn
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r
  }
  RETURN r.status ORDER BY r.startedAt DESC, r.urn LIMIT 1
}[0] IN $states)
WITH j ORDER BY j.name, j.urn
WITH collect(j) AS found
RETURN [j IN found[$skip..$skip + $limit] | j.urn] AS urns, size(found) AS total
