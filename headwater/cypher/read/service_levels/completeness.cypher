// Count the visible jobs with runs, the visible datasets that a job writes, and of each the
// required fields that have a value. This is a scan over all jobs and datasets, to count them.
// access: read
// params: $visible LIST<STRING> = null
// returns: jobs, inputs, outputs, jobOwners, code, datasets, schemas, columns, datasetOwners,
//   descriptions
// example: headwater slo M6
CALL () {
  MATCH (j:Job)
  WHERE j.deletedAt IS NULL AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
    AND NOT EXISTS { (part:Job)-[:PART_OF]->(j)
      WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p) }
    AND EXISTS { (r:PipelineRun)-[:RUN_OF]->(j)
      WHERE $visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) } }
  WITH j, EXISTS { MATCH ()-[f:FEEDS]->(j) WHERE f.current } AS reads,
    EXISTS { MATCH (j)-[p:PRODUCED|FEEDS]->() WHERE p.current } AS makes
  WHERE makes OR j.type IS NULL OR j.type <> 'RDD_JOB'
  RETURN count(j) AS jobs, count(CASE WHEN reads THEN 1 END) AS inputs,
    count(CASE WHEN makes THEN 1 END) AS outputs,
    count(CASE WHEN size(coalesce(j.owners, [])) > 0 THEN 1 END) AS jobOwners,
    count(coalesce(j.sourceCode, j.sql, j.codeUrl)) AS code
}
CALL (jobs) {
  MATCH (d:Dataset)
  WHERE d.droppedAt IS NULL AND d.deletedAt IS NULL
    AND ($visible IS NULL OR any(p IN $visible WHERE d.namespace =~ p))
    AND EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
  RETURN count(d) AS datasets, count(d.schema) AS schemas,
    count(CASE WHEN EXISTS { (d)-[:HAS_COLUMN]->(:Column)<-[:FEEDS]-(:Column) } THEN 1 END)
      AS columns,
    count(CASE WHEN size(coalesce(d.owners, [])) > 0 THEN 1 END) AS datasetOwners,
    count(CASE WHEN d.description <> '' THEN 1 END) AS descriptions
}
RETURN jobs, inputs, outputs, jobOwners, code, datasets, schemas, columns, datasetOwners,
  descriptions
