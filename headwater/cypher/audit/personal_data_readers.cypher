// Return who read personal data, and when: the runs that read a dataset with a tag (pii, pii=email,
// classification=pii; on the dataset or on a column), with their jobs and owners, newest first.
// $until is exclusive. The owners are those of the job, or else of the nearest job that contains
// it. `tagged` are the columns with the tag, or * for the whole dataset. `used` are those that the
// column lineage of the job names; it is null where the job has none for this dataset. Runs that a
// rollup replaced are not listed. This is a scan over all datasets for their tags.
// access: read
// params: $tag STRING = "pii", $since DATETIME = "1970-01-01T00:00:00Z", $until DATETIME =
//   "9999-01-01T00:00:00Z", $namespace STRING = "", $limit INTEGER = 1000
// returns: readAt, namespace, dataset, tagged, used, jobNamespace, job, owners, runId, status
// example: headwater cypher personal_data_readers --param tag=pii
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL AND ($namespace = '' OR d.namespace = $namespace)
WITH d, toLower($tag) AS tag
WITH d, tag, [t IN d.tags WHERE NOT split(t, '=')[0] CONTAINS ':' AND (toLower(t) = tag
  OR toLower(t) ENDS WITH '=' + tag OR (toLower(t) STARTS WITH tag + '='
    AND NOT toLower(split(t, '=')[1]) IN ['false', 'no', 'none', '0']))] AS whole
WITH d, whole, COLLECT {
  MATCH (d)-[:HAS_COLUMN]->(c:Column)
  WHERE any(t IN c.tags WHERE toLower(t) = tag OR toLower(t) ENDS WITH '=' + tag
    OR (toLower(t) STARTS WITH tag + '='
      AND NOT toLower(split(t, '=')[1]) IN ['false', 'no', 'none', '0']))
  RETURN c.name ORDER BY c.name
} AS columns
WHERE whole <> [] OR columns <> []
MATCH (d)<-[:VERSION_OF]-(v:Source|Artifact)-[:FEEDS]->(r:PipelineRun)-[:RUN_OF]->(j:Job)
WHERE r.startedAt >= $since AND r.startedAt < $until
WITH DISTINCT d, CASE WHEN whole = [] THEN columns ELSE ['*'] END AS tagged, r, j
ORDER BY r.startedAt DESC, d.namespace, d.name, j.namespace, j.name, r.runId
LIMIT $limit
RETURN r.startedAt AS readAt, d.namespace AS namespace, d.name AS dataset, tagged,
  CASE WHEN EXISTS { (d)-[:HAS_COLUMN]->(:Column)-[f:FEEDS WHERE f.job = j.urn]->(:Column) }
    THEN COLLECT {
      MATCH (d)-[:HAS_COLUMN]->(c:Column)
      WHERE ('*' IN tagged OR c.name IN tagged)
        AND EXISTS { (c)-[f:FEEDS WHERE f.job = j.urn]->() }
      RETURN c.name ORDER BY c.name
    } END AS used,
  j.namespace AS jobNamespace, j.name AS job,
  CASE WHEN coalesce(j.owners, []) <> [] THEN j.owners
    ELSE coalesce(COLLECT {
      MATCH containers = (j)-[:PART_OF]->{1,10}(c:Job WHERE c.owners <> [])
      RETURN c.owners ORDER BY length(containers) LIMIT 1
    }[0], []) END AS owners,
  r.runId AS runId, r.status AS status
ORDER BY readAt DESC, namespace, dataset, jobNamespace, job, runId
