// Count the visible runs that started in a time window, ended and contain no others, and those
// whose identifiers match: the parent run that they name sent events itself, and their job shares
// a dataset with another job or an answer. Hidden parents, datasets, jobs and answers do not count.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null
// returns: total, good
// example: headwater slo M8
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.endUnreported IS NULL
  AND r.status IN ['COMPLETE', 'FAIL', 'ABORT']
  AND NOT EXISTS { (part:PipelineRun)-[:PART_OF]->(r)
    WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p)
      AND NOT EXISTS { (part)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) } }
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
OPTIONAL MATCH (r)-[:RUN_OF]->(j:Job)
WITH j, count(*) AS runs, count(CASE WHEN NOT EXISTS { MATCH (r)-[:PART_OF]->(p:PipelineRun)
  WHERE p.startedAt IS NULL AND p.finishedAt IS NULL
    AND ($visible IS NULL OR any(v IN $visible WHERE p.namespace =~ v)) } THEN 1 END) AS known
WITH runs, known, EXISTS {
    MATCH (j)-[:FEEDS|PRODUCED]-(d:Dataset)-[:FEEDS|PRODUCED]-(other:Job)
    WHERE other <> j AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p)
      AND any(p IN $visible WHERE other.namespace =~ p))
  } OR EXISTS {
    MATCH (j)-[:FEEDS|PRODUCED]-(:Dataset)<-[:VERSION_OF]-(:Artifact|Source)-[:CITED_BY]->(a:Answer)
    WHERE $visible IS NULL OR NOT EXISTS {
      (a)<-[:CITED_BY*1..20]-(v:Source|Artifact|Column)
      WHERE none(p IN $visible WHERE v.namespace =~ p)
    }
  } AS shared
RETURN coalesce(sum(runs), 0) AS total,
  coalesce(sum(CASE WHEN shared THEN known ELSE 0 END), 0) AS good
