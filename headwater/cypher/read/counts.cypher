// How many nodes of each kind there are (answered from the count store).
// access: read
// params: none
// returns: label, count
// example: headwater cypher read/counts
MATCH (n:Dataset) RETURN 'Dataset' AS label, count(n) AS count
UNION ALL
MATCH (n:Job) RETURN 'Job' AS label, count(n) AS count
UNION ALL
MATCH (n:PipelineRun) RETURN 'PipelineRun' AS label, count(n) AS count
UNION ALL
MATCH (n:Source) RETURN 'Source' AS label, count(n) AS count
UNION ALL
MATCH (n:Artifact) RETURN 'Artifact' AS label, count(n) AS count
UNION ALL
MATCH (n:Answer) RETURN 'Answer' AS label, count(n) AS count
UNION ALL
MATCH (n:Column) RETURN 'Column' AS label, count(n) AS count
