// Return where personal data arrives without being masked. The search starts at columns with a tag
// (pii, pii=email, classification=pii; on the column, or on its dataset for all columns). It
// follows column lineage unless every transformation of a step is masked. Transformations are only
// ever added, so a step that was masked later is still returned. With indirect, it also follows a
// column that only decides which rows exist (a filter, a join). Where no column is named, a job
// produced that dataset without column lineage, and the columns reached are unknown. If runs are
// known for every step, the newest version of the dataset must come from the tagged dataset: an
// overwrite ends the reach, an append does not. Paths have at most 20 steps. This is a scan over
// all datasets for their tags.
// access: read
// params: $tag STRING = "pii", $indirect BOOLEAN = false, $limit INTEGER = 1000
// returns: dataset, column, steps, reachedDataset, reachedColumn, job, transformations
// example: headwater cypher pii_reach --param tag=pii
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL
WITH d, toLower($tag) AS tag, [t IN d.tags | toLower(t)] AS tags
MATCH (d)-[:HAS_COLUMN]->(c:Column)
WITH d, c, tag, [t IN tags WHERE NOT split(t, '=')[0] CONTAINS ':']
  + [t IN tags WHERE t STARTS WITH toLower(c.name) + ':' | substring(t, size(c.name) + 1)] AS words
WHERE any(w IN words WHERE w = tag OR w ENDS WITH '=' + tag
  OR (w STARTS WITH tag + '=' AND NOT split(w, '=')[1] IN ['false', 'no', 'none', '0']))
MATCH path = ANY SHORTEST (c)(()-[step:FEEDS WHERE any(w IN step.transformations
    WHERE ($indirect OR NOT w STARTS WITH 'INDIRECT') AND NOT toLower(w) ENDS
      WITH ':masked')]->()){0,20}(at)
CALL (d, c, at, step) {
  WITH at, step WHERE size(step) > 0
  MATCH (at)<-[:HAS_COLUMN*0..1]-(reached:Dataset)
  RETURN reached, CASE WHEN at:Column THEN at.name ELSE '*' END AS reachedColumn,
    [s IN step | s.job] AS jobs, step[-1].transformations AS transformations, true AS isCurrent
  UNION ALL
  MATCH (at)<-[:HAS_COLUMN]-(i:Dataset)-[feeds:FEEDS]->(j:Job)-[p:PRODUCED]->(o:Dataset)
  WHERE i <> o AND NOT EXISTS { (i)-[:HAS_COLUMN]->(:Column)-[f:FEEDS
    WHERE f.job = j.urn]->()<-[:HAS_COLUMN]-(o) }
    AND ((p.explicit AND EXISTS {
        (o)-[r:DERIVED_FROM WHERE r.job = j.urn AND ('lineage' IN r.evidence OR r.declared)]->(i)
      })
      OR (p.explicit IS NULL AND (p.fromAllInputs OR NOT EXISTS { (o)-[r:DERIVED_FROM
        WHERE r.job = j.urn]->(:Dataset)-[:FEEDS]->(j) }
        OR EXISTS { (o)-[r:DERIVED_FROM WHERE r.job = j.urn]->(i) })))
  RETURN o AS reached, null AS reachedColumn, [s IN step | s.job] + j.urn AS jobs,
    null AS transformations, feeds.current AND p.current AS isCurrent
}
WITH d, c, reached, reachedColumn, jobs, transformations, isCurrent, COLLECT {
  MATCH (v:Artifact)
  USING INDEX SEEK v:Artifact(dataset, complete, createdAt)
  WHERE v.dataset = reached.urn AND v.complete = true AND v.createdAt IS NOT NULL
  RETURN v ORDER BY v.dataset DESC, v.complete DESC, v.createdAt DESC LIMIT 1
}[0] AS newest
WHERE CASE
  WHEN newest IS NULL OR any(job IN jobs WHERE NOT EXISTS {
      (:Job {urn: job})<-[:RUN_OF]-(:PipelineRun)-[:PRODUCED]->(:Artifact {complete: true})
    }) THEN isCurrent
  ELSE d.urn IN COLLECT {
    MATCH (newest)<-[:FEEDS|PRODUCED*0..]-(version)
    WITH DISTINCT version
    RETURN version.dataset
  } END
RETURN d.namespace + ' ' + d.name AS dataset, c.name AS column, size(jobs) AS steps,
  reached.namespace + ' ' + reached.name AS reachedDataset, reachedColumn, jobs[-1] AS job,
  transformations
ORDER BY dataset, column, steps, reachedDataset, reachedColumn, job
LIMIT $limit
