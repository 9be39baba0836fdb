// How many nodes of each kind there are (answered from the count store).
// access: read
// params: none
// returns: label, count
// example: headwater cypher read/counts
MATCH (n:Dataset) WITH count(n) AS count
RETURN 'Dataset' AS label, count
UNION ALL
MATCH (n:Job) WITH count(n) AS count
RETURN 'Job' AS label, count
UNION ALL
MATCH (n:PipelineRun) WITH count(n) AS count
RETURN 'PipelineRun' AS label, count
UNION ALL
MATCH (n:Source) WITH count(n) AS count
RETURN 'Source' AS label, count
UNION ALL
MATCH (n:Artifact) WITH count(n) AS count
RETURN 'Artifact' AS label, count
UNION ALL
MATCH (n:Answer) WITH count(n) AS count
RETURN 'Answer' AS label, count
UNION ALL
MATCH (n:Column) WITH count(n) AS count
RETURN 'Column' AS label, count
