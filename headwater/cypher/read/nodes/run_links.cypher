// Return the jobs of the given runs, the versions they read and wrote, their parent and child runs,
// and a count of failed descendants. Descendants are counted eight levels down. A failure that was
// retried does not count, nor does one under an earlier attempt of the run. $visible: the
// namespaces
// in which these nodes must lie, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000, $visible LIST<STRING>
// returns: urn, jobs, inputs, outputs, parents, children, childFailures
// example: headwater cypher read/nodes/run_links --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
RETURN urn,
  COLLECT { MATCH (r)-[:RUN_OF]->(j:Job) RETURN j.urn ORDER BY j.urn } AS jobs,
  COLLECT {
    MATCH (v:Source|Artifact)-[e:FEEDS]->(r)
    WHERE $visible IS NULL OR any(p IN $visible WHERE v.namespace =~ p)
    RETURN {urn: v.urn, dataset: v.dataset, stream: CASE WHEN e.offsets IS NOT NULL THEN
      {offsets: e.offsets, reportedAt: e.offsetsAt, lag: e.lags[-1]} END}
    ORDER BY v.urn LIMIT $limit
  } AS inputs,
  COLLECT {
    MATCH (r)-[e:PRODUCED]->(a:Artifact)
    WHERE $visible IS NULL OR any(p IN $visible WHERE a.namespace =~ p)
    RETURN {urn: a.urn, dataset: a.dataset, stream: CASE WHEN e.offsets IS NOT NULL THEN
      {offsets: e.offsets, reportedAt: e.offsetsAt, lag: e.lags[-1]} END}
    ORDER BY a.urn LIMIT $limit
  } AS outputs,
  COLLECT { MATCH (r)-[:PART_OF]->(p:PipelineRun) RETURN p.urn ORDER BY p.urn } AS parents,
  COLLECT {
    MATCH (c:PipelineRun)-[:PART_OF]->(r)
    WHERE $visible IS NULL OR any(p IN $visible WHERE c.namespace =~ p)
      AND NOT EXISTS { (c)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) }
    RETURN c.urn ORDER BY c.startedAt, c.urn LIMIT $limit
  } AS children,
  COUNT {
    MATCH (c:PipelineRun) ((below:PipelineRun)-[:PART_OF]->(:PipelineRun)
      WHERE below.retried IS NULL){1,8} (r)
    WHERE c.status = 'FAIL' AND ($visible IS NULL OR any(p IN $visible WHERE c.namespace =~ p)
      AND NOT EXISTS { (c)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
      AND (coalesce(r.attempts, 1) = 1 OR c.startedAt >= r.startedAt)
    RETURN DISTINCT c
  } AS childFailures
