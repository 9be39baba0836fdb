// Return those of the given runs that no other node needs, with the properties for their summary.
// Such a run ended without failure at its first attempt and without failed tests. No run in the
// graph is part of it, runs after it or took data from it. It shares its schedule slot with no run
// and dropped no dataset. It is not in the newest execution of a job
// (read/traversal/datasets_in_use) and wrote no newest version of a dataset. None of its versions
// begins or ends a schema change or is cited. If a job comes back to a dataset, its newest 200
// successful runs stay, since they show that.
// access: read
// params: $rows LIST<MAP>
// returns: urn, job, status, startedAt, finishedAt, version, errors, reads, writes, rowsRead,
//   rowsWritten, bytesWritten
// example: run by `headwater pipeline rollup`
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.urn})
WHERE coalesce(r.lastSeen, r.finishedAt) = row.lastSeen
  AND r.status IN ['COMPLETE', 'ABORT', 'ABANDONED']
  AND coalesce(r.attempts, 1) = 1 AND coalesce(r.testsFailed, 0) = 0
  AND NOT EXISTS { (r)<-[:PART_OF]-() }
  AND NOT EXISTS { (r)-[:TRIGGERS|FEEDS|DROPPED]->() }
  AND (r.slot IS NULL OR NOT EXISTS { MATCH (other:PipelineRun {slot: r.slot}) WHERE other <> r })
  AND (r.reportedSides IS NULL OR NOT r.reportedSides IN ['both', 'reads', 'failed'] OR EXISTS {
    UNWIND ['both', 'reads'] AS sides
    MATCH (n:PipelineRun)
    USING INDEX SEEK n:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE n.namespace = r.namespace AND n.pipelineName = r.pipelineName AND n.reportedSides = sides
      AND n.finishedAt > r.finishedAt AND (n.execution IS NULL
        OR (r.execution IS NULL OR n.execution <> r.execution
          OR n.finishedAt > r.finishedAt + duration({hours: 12}))
        AND NOT EXISTS {
          MATCH (f:PipelineRun)
          USING INDEX SEEK f:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
          WHERE f.namespace = n.namespace AND f.pipelineName = n.pipelineName
            AND f.reportedSides = 'failed' AND f.finishedAt >= n.finishedAt
            AND f.execution = n.execution
        })
  })
  AND (r.reportedSides IS NULL OR NOT r.reportedSides IN ['both', 'writes', 'failed'] OR EXISTS {
    UNWIND ['both', 'writes'] AS sides
    MATCH (n:PipelineRun)
    USING INDEX SEEK n:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE n.namespace = r.namespace AND n.pipelineName = r.pipelineName AND n.reportedSides = sides
      AND n.finishedAt > r.finishedAt AND (n.execution IS NULL
        OR (r.execution IS NULL OR n.execution <> r.execution
          OR n.finishedAt > r.finishedAt + duration({hours: 12}))
        AND NOT EXISTS {
          MATCH (f:PipelineRun)
          USING INDEX SEEK f:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
          WHERE f.namespace = n.namespace AND f.pipelineName = n.pipelineName
            AND f.reportedSides = 'failed' AND f.finishedAt >= n.finishedAt
            AND f.execution = n.execution
        })
  })
  AND NOT EXISTS {
    MATCH (r)-[:RUN_OF]->(j:Job)
    WHERE NOT EXISTS {
      MATCH (n:PipelineRun)
      USING INDEX SEEK n:PipelineRun(namespace, pipelineName, startedAt)
      WHERE n.namespace = j.namespace AND n.pipelineName = j.name AND n.startedAt > r.startedAt
        AND EXISTS { (n)-[:RUN_OF]->(j) }
    } AND NOT EXISTS {
      MATCH (n:PipelineRun)-[e:RUN_OF]->(:Job)
      USING INDEX SEEK e:RUN_OF(indexedUnder)
      WHERE e.indexedUnder = j.urn AND n.startedAt > r.startedAt
    }
  }
  AND NOT EXISTS {
    MATCH (r)-[:PRODUCED]->(a:Artifact)
    WHERE a.drift IS NOT NULL OR EXISTS { (a)-[:CITED_BY]->() } OR NOT EXISTS {
      MATCH (n:Artifact)
      USING INDEX SEEK n:Artifact(dataset, complete, createdAt)
      WHERE n.dataset = a.dataset AND n.complete = true AND n.createdAt > a.createdAt
    } OR COLLECT {
      MATCH (n:Artifact)
      USING INDEX SEEK n:Artifact(dataset, complete, createdAt)
      WHERE a.schemaHash IS NOT NULL AND n.dataset = a.dataset AND n.complete = true
        AND n.createdAt > a.createdAt
        AND n.schemaHash IS NOT NULL
      RETURN n.schemaHash ORDER BY n.dataset, n.complete, n.createdAt LIMIT 1
    }[0] <> a.schemaHash
  }
  AND NOT EXISTS {
    MATCH (r)-[:RUN_OF]->(j:Job)
    WHERE r.reportedSides IN ['both', 'reads', 'writes']
      AND (EXISTS { (j)-[:PRODUCED {returning: true}]->() }
        OR EXISTS { (j)<-[:FEEDS {returning: true}]-() })
    UNWIND ['reads', 'writes'] AS side
    WITH side
    WHERE r.reportedSides IN ['both', side] AND COUNT {
      UNWIND ['both', side] AS sides
      MATCH (n:PipelineRun)
      USING INDEX SEEK n:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
      WHERE n.namespace = r.namespace AND n.pipelineName = r.pipelineName
        AND n.reportedSides = sides AND n.finishedAt > r.finishedAt
      RETURN n LIMIT 200
    } < 200
    RETURN side
  }
RETURN r.urn AS urn, COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j.urn ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn LIMIT 1
}[0] AS job, r.status AS status, r.startedAt AS startedAt, r.finishedAt AS finishedAt,
  r.version AS version,
  size(coalesce(r.extractionErrors, [])) AS errors,
  COLLECT { MATCH (v:Source|Artifact)-[:FEEDS]->(r) RETURN DISTINCT [v.dataset, v.schemaHash] }
    AS reads,
  COLLECT { MATCH (r)-[:PRODUCED]->(a:Artifact) RETURN DISTINCT [a.dataset, a.schemaHash] }
    AS writes,
  COLLECT { MATCH (:Source|Artifact)-[e:FEEDS]->(r) RETURN e.rowCount } AS rowsRead,
  COLLECT { MATCH (r)-[:PRODUCED]->(a:Artifact) RETURN a.rowCount } AS rowsWritten,
  COLLECT { MATCH (r)-[:PRODUCED]->(a:Artifact) RETURN a.bytes } AS bytesWritten
