// Return the number of nodes of each label, and in rows of their own the number of edges that leave
// them. Neo4j maintains these counts.
// access: read
// params: none
// returns: label, nodes, edges
// example: headwater cypher read/export/counts
CALL () { MATCH (n:Answer) RETURN count(n) AS nodes }
RETURN 'Answer' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Artifact) RETURN count(n) AS nodes }
RETURN 'Artifact' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Column) RETURN count(n) AS nodes }
RETURN 'Column' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:ConformanceFinding) RETURN count(n) AS nodes }
RETURN 'ConformanceFinding' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Dataset) RETURN count(n) AS nodes }
RETURN 'Dataset' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Job) RETURN count(n) AS nodes }
RETURN 'Job' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:PipelineRun) RETURN count(n) AS nodes }
RETURN 'PipelineRun' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Producer) RETURN count(n) AS nodes }
RETURN 'Producer' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Receipt) RETURN count(n) AS nodes }
RETURN 'Receipt' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:RunSummary) RETURN count(n) AS nodes }
RETURN 'RunSummary' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:SchemaVersion) RETURN count(n) AS nodes }
RETURN 'SchemaVersion' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Source) RETURN count(n) AS nodes }
RETURN 'Source' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Symlink) RETURN count(n) AS nodes }
RETURN 'Symlink' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (n:Tag) RETURN count(n) AS nodes }
RETURN 'Tag' AS label, nodes, 0 AS edges
UNION ALL
CALL () { MATCH (:Answer)-[e]->() RETURN count(e) AS edges }
RETURN 'Answer' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:Artifact)-[e]->() RETURN count(e) AS edges }
RETURN 'Artifact' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:Column)-[e]->() RETURN count(e) AS edges }
RETURN 'Column' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:Dataset)-[e]->() RETURN count(e) AS edges }
RETURN 'Dataset' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:Job)-[e]->() RETURN count(e) AS edges }
RETURN 'Job' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:PipelineRun)-[e]->() RETURN count(e) AS edges }
RETURN 'PipelineRun' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:RunSummary)-[e]->() RETURN count(e) AS edges }
RETURN 'RunSummary' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:Source)-[e]->() RETURN count(e) AS edges }
RETURN 'Source' AS label, 0 AS nodes, edges
UNION ALL
CALL () { MATCH (:Symlink)-[e]->() RETURN count(e) AS edges }
RETURN 'Symlink' AS label, 0 AS nodes, edges
