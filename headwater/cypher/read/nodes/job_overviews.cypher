// Return what a picture of the lineage graph shows of the given jobs: owners, tags, type, the
// newest run by an instant, and the newest run of the DAG that contains the job. `upstream` and
// `downstream` are the neighbours by current edges. $visible: the namespaces of neighbours, and
// those in which all jobs of a run must lie, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 1000
// returns: urn, owners, tags, type, last, execution, upstream, downstream
// example: headwater cypher read/nodes/job_overviews --param urns=job:spark:flights.clean --param
//   at=9999-12-31
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
CALL (j) {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt <= $at
    AND EXISTS { (r)-[:RUN_OF]->(j) }
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT 1
  UNION
  MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
  USING INDEX SEEK e:RUN_OF(indexedUnder)
  WHERE e.indexedUnder = j.urn AND coalesce(r.startedAt, r.finishedAt, $at) <= $at
    AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
  RETURN r ORDER BY r.startedAt DESC, r.urn LIMIT 1
  UNION
  RETURN null AS r
}
WITH urn, j, r ORDER BY coalesce(r.startedAt, r.finishedAt, r.lastSeen) DESC
WITH urn, j, collect(r)[0] AS last
RETURN urn, j.owners AS owners, j.tags AS tags, j.type AS type,
  last {.urn, .runId, .status, .startedAt, .finishedAt, .failedAt, .lastSeen} AS last, COLLECT {
    MATCH (j)-[:PART_OF]->(dag:Job {type: 'DAG'})
    CALL (dag) {
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
      WHERE r.namespace = dag.namespace AND r.pipelineName = dag.name AND r.startedAt <= $at
        AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
          WHERE none(p IN $visible WHERE other.namespace =~ p) })
      RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT 1
    }
    RETURN {job: dag.urn, status: r.status, startedAt: r.startedAt, finishedAt: r.finishedAt,
      failedAt: r.failedAt} ORDER BY r.startedAt DESC LIMIT 1
  }[0] AS execution,
  COLLECT { MATCH (n:Dataset|Job)-[e:FEEDS]->(j) WHERE e.current AND ($visible IS NULL
      OR any(p IN $visible WHERE n.namespace =~ p))
    RETURN DISTINCT n.urn ORDER BY n.urn LIMIT $limit } AS upstream,
  COLLECT { MATCH (j)-[e:PRODUCED|FEEDS]->(n:Dataset|Job) WHERE e.current AND ($visible IS NULL
      OR any(p IN $visible WHERE n.namespace =~ p))
    RETURN DISTINCT n.urn ORDER BY n.urn LIMIT $limit } AS downstream
