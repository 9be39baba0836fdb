// Return which datasets the given jobs read or wrote (`side`) at an instant, each with the end of
// the last run that used it. The runs of one job under one root or parent run are one execution.
// The datasets are those of the newest execution whose last run succeeded, and of successful runs
// after it. A run that ended more than 12 hours before the last of its execution no longer counts:
// the execution is then a service that runs for months. Of what failed runs of that execution name,
// the datasets that one of the last 1,000 successful runs used remain. Of runs that ended at the
// same instant, the greatest urn counts. `succeededAt` is the end of the last run of that
// execution. It is null if no run succeeded or every execution ended with a failure. `failedAt` is
// the end of the last failed run of any execution. A written dataset is in `used` once more after
// "* " if a run
// that read any dataset named no origins of it: it comes from all inputs of the job.
// `returning` are datasets that the newest execution did not use, and to which the job comes back:
// among its newest 200 successful runs, two used the dataset, and a run of an execution that did
// not use it ended between them. `recent` are the datasets of these 200 runs, if the job has more
// edges than `used`.
// access: read
// params: $rows LIST<MAP>, $at DATETIME = null
// returns: job, side, execution, succeededAt, failedAt, used, returning, recent
// example: run by the worker and by `asOf`
UNWIND $rows AS row
MATCH (j:Job {urn: row.job})
WITH j, row.side AS side, coalesce($at, datetime({year: 9999})) AS at
WITH j, side, at, COLLECT {
  UNWIND ['both', side] AS sides
  CALL (j, at, sides) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
      AND r.finishedAt <= at AND (r.execution IS NULL OR NOT EXISTS {
        MATCH (f:PipelineRun)
        USING INDEX SEEK f:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
        WHERE f.namespace = j.namespace AND f.pipelineName = j.name AND f.reportedSides = 'failed'
          AND f.finishedAt >= r.finishedAt AND f.finishedAt <= at AND f.execution = r.execution
      })
    RETURN r.finishedAt AS ended
    ORDER BY r.namespace DESC, r.pipelineName DESC, r.reportedSides DESC, r.finishedAt DESC LIMIT 1
  }
  RETURN ended ORDER BY ended DESC LIMIT 1
}[0] AS succeededAt
WITH j, side, at, succeededAt, COLLECT {
  UNWIND ['both', side] AS sides
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
    AND r.finishedAt = succeededAt
  RETURN r ORDER BY r.urn DESC LIMIT 1
}[0] AS newest
WITH j, side, at, succeededAt, newest, coalesce(succeededAt, datetime({year: 1})) AS ended
WITH *,
  CASE WHEN newest.execution IS NULL THEN ended ELSE ended - duration({hours: 12}) END AS since
CALL (j, side, at, newest, ended, since) {
  UNWIND ['both', side] AS sides
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
    AND r.finishedAt >= since AND r.finishedAt <= at
    AND (r.finishedAt > ended OR r = newest OR r.execution = newest.execution)
  CALL (r, side) {
    MATCH (v:Source|Artifact)-[:FEEDS]->(r) WHERE side = 'reads' RETURN v.dataset AS dataset
    UNION
    MATCH (r)-[:PRODUCED]->(v:Artifact) WHERE side = 'writes' RETURN v.dataset AS dataset
    UNION
    MATCH (r)-[:PRODUCED]->(v:Artifact)
    WHERE side = 'writes' AND r.reportedSides = 'both'
    WITH v.dataset AS written, max(CASE WHEN v.explicit OR v.derivedFrom IS NOT NULL
      OR EXISTS { (v)-[:DERIVED_FROM]->() } THEN 1 ELSE 0 END) AS hasOrigins
    WHERE hasOrigins = 0
    RETURN '* ' + written AS dataset
  }
  WITH dataset, max(r.finishedAt) AS usedAt
  RETURN collect([dataset, usedAt]) AS usedBySuccessful
}
CALL (j, side, at, newest, ended, since) {
  MATCH (f:PipelineRun)
  USING INDEX SEEK f:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
  WHERE f.namespace = j.namespace AND f.pipelineName = j.name AND f.reportedSides = 'failed'
    AND f.finishedAt >= since AND f.finishedAt <= ended AND f.execution = newest.execution
  CALL (f, side) {
    MATCH (v:Source|Artifact)-[:FEEDS]->(f) WHERE side = 'reads' RETURN v.dataset AS dataset
    UNION
    MATCH (f)-[:PRODUCED]->(v:Artifact) WHERE side = 'writes' RETURN v.dataset AS dataset
  }
  WITH j, side, ended, dataset, max(f.finishedAt) AS usedAt
  WHERE EXISTS {
    UNWIND ['both', side] AS sides
    CALL (j, ended, sides) {
      MATCH (r:PipelineRun)
      USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
      WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
        AND r.finishedAt <= ended
      RETURN r
      ORDER BY r.namespace DESC, r.pipelineName DESC, r.reportedSides DESC, r.finishedAt DESC
        LIMIT 1000
    }
    WITH r, dataset, side
    WHERE (side = 'reads' AND EXISTS { (:Source|Artifact {dataset: dataset})-[:FEEDS]->(r) })
      OR (side = 'writes' AND EXISTS { (r)-[:PRODUCED]->(:Artifact {dataset: dataset}) })
    RETURN r
  }
  RETURN collect([dataset, usedAt]) AS usedByFailed
}
CALL (j, side, at, newest, usedBySuccessful) {
  WITH CASE side WHEN 'reads' THEN COUNT { (j)<-[:FEEDS]-() } ELSE COUNT { (j)-[:PRODUCED]->() } END
    AS edges, size([use IN usedBySuccessful WHERE NOT use[0] STARTS WITH '* ']) AS datasets
  WHERE newest IS NOT NULL AND edges > datasets
  UNWIND ['both', side] AS sides
  CALL (j, at, sides) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.reportedSides = sides
      AND r.finishedAt <= at
    RETURN r
    ORDER BY r.namespace DESC, r.pipelineName DESC, r.reportedSides DESC, r.finishedAt DESC,
      r.urn DESC LIMIT 200
  }
  WITH r ORDER BY r.finishedAt DESC, r.urn DESC LIMIT 200
  CALL (r, side) {
    MATCH (v:Source|Artifact)-[:FEEDS]->(r) WHERE side = 'reads' RETURN v.dataset AS dataset
    UNION
    MATCH (r)-[:PRODUCED]->(v:Artifact) WHERE side = 'writes' RETURN v.dataset AS dataset
  }
  RETURN collect({dataset: dataset, run: r.urn, execution: coalesce(r.execution, r.urn),
    ended: r.finishedAt}) AS uses
}
CALL (side, newest, uses) {
  UNWIND uses AS use
  WITH use.dataset AS dataset, collect(DISTINCT use.execution) AS executions,
    min(use.ended) AS first, max(use.ended) AS last
  WHERE first < last AND NOT coalesce(newest.execution, newest.urn) IN executions
    AND any(other IN uses WHERE other.ended > first AND other.ended < last
      AND NOT other.execution IN executions)
  WITH dataset, CASE WHEN side = 'writes' THEN [use IN uses
    WHERE use.dataset = dataset AND use.ended = last | use.run] ELSE [] END AS runs
  WITH dataset, EXISTS {
    UNWIND runs AS run
    MATCH (r:PipelineRun {urn: run})-[:PRODUCED]->(v:Artifact)
    WHERE v.dataset = dataset AND r.reportedSides = 'both'
    WITH run, max(CASE WHEN v.explicit OR v.derivedFrom IS NOT NULL
      OR EXISTS { (v)-[:DERIVED_FROM]->() } THEN 1 ELSE 0 END) AS hasOrigins
    WHERE hasOrigins = 0
    RETURN run
  } AS fromAllInputs
  RETURN collect(dataset)
    + collect(CASE WHEN fromAllInputs THEN '* ' + dataset END) AS returning
}
RETURN j.urn AS job, side, newest.execution AS execution, succeededAt, COLLECT {
  MATCH (f:PipelineRun)
  USING INDEX SEEK f:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
  WHERE f.namespace = j.namespace AND f.pipelineName = j.name AND f.reportedSides = 'failed'
    AND f.finishedAt <= at
  RETURN f.finishedAt
  ORDER BY f.namespace DESC, f.pipelineName DESC, f.reportedSides DESC, f.finishedAt DESC LIMIT 1
}[0] AS failedAt, usedBySuccessful + usedByFailed AS used, returning,
  COLLECT { UNWIND uses AS use RETURN DISTINCT use.dataset } AS recent
