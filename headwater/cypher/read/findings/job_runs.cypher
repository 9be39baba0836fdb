// Return the newest runs of each given job with their datasets, newest first, and the run that
// contains each of them. A run without a start is left out.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 200, $datasets INTEGER = 100
// returns: job, urn, status, startedAt, endedAt, lastSeen, nominalStart, slot, attempt,
//   execution, error, version, codeHash, reads, writes, parent, lags
// example: headwater cypher read/findings/job_runs --param urns=job:spark:flights.clean
UNWIND $urns AS job
MATCH (j:Job {urn: job})
CALL (j) {
  CALL (j) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL
      AND EXISTS { (r)-[:RUN_OF]->(j) }
    RETURN r
    ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT $limit
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = j.urn AND r.startedAt IS NOT NULL
    RETURN r ORDER BY r.startedAt DESC, r.urn LIMIT $limit
  }
  RETURN r ORDER BY r.startedAt DESC, r.urn LIMIT $limit
}
RETURN job, r.urn AS urn, r.status AS status, r.startedAt AS startedAt,
  coalesce(r.finishedAt, r.failedAt) AS endedAt, r.lastSeen AS lastSeen,
  r.nominalStart AS nominalStart, r.slot AS slot,
  r.attempt AS attempt, coalesce(r.execution, COLLECT {
    MATCH (r)-[:PART_OF]->(p:PipelineRun) RETURN p.urn ORDER BY p.urn LIMIT 1
  }[0]) AS execution, r.error AS error, r.version AS version, r.codeHash AS codeHash, COLLECT {
    MATCH (v:Source|Artifact)-[:FEEDS]->(r)
    RETURN DISTINCT v.dataset ORDER BY v.dataset LIMIT $datasets
  } AS reads, COLLECT {
    MATCH (r)-[:PRODUCED]->(a:Artifact)
    RETURN DISTINCT a.dataset ORDER BY a.dataset LIMIT $datasets
  } AS writes, COLLECT {
    MATCH (r)-[:PART_OF]->(p:PipelineRun)
    RETURN {
      status: p.status, codeHash: p.codeHash,
      reads: COLLECT {
        MATCH (v:Source|Artifact)-[:FEEDS]->(p)
        RETURN DISTINCT v.dataset ORDER BY v.dataset LIMIT $datasets
      },
      writes: COLLECT {
        MATCH (p)-[:PRODUCED]->(a:Artifact)
        RETURN DISTINCT a.dataset ORDER BY a.dataset LIMIT $datasets
      }
    } ORDER BY p.urn LIMIT 1
  }[0] AS parent, COLLECT {
    MATCH (v:Source|Artifact)-[e:FEEDS]->(r) WHERE e.lags IS NOT NULL
    RETURN {dataset: v.dataset, times: e.lagTimes, lags: e.lags}
    ORDER BY v.dataset, v.urn LIMIT $datasets
  } AS lags
