// How many nodes there are of each label, and how many edges leave them; Neo4j keeps these counts.
// access: read
// params: none
// returns: label, nodes, edges
// example: headwater cypher read/export_counts
CALL () { MATCH (n:Answer) RETURN count(n) AS nodes }
CALL () { MATCH (:Answer)-[e]->() RETURN count(e) AS edges }
RETURN 'Answer' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Artifact) RETURN count(n) AS nodes }
CALL () { MATCH (:Artifact)-[e]->() RETURN count(e) AS edges }
RETURN 'Artifact' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Column) RETURN count(n) AS nodes }
CALL () { MATCH (:Column)-[e]->() RETURN count(e) AS edges }
RETURN 'Column' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Dataset) RETURN count(n) AS nodes }
CALL () { MATCH (:Dataset)-[e]->() RETURN count(e) AS edges }
RETURN 'Dataset' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Finding) RETURN count(n) AS nodes }
CALL () { MATCH (:Finding)-[e]->() RETURN count(e) AS edges }
RETURN 'Finding' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Job) RETURN count(n) AS nodes }
CALL () { MATCH (:Job)-[e]->() RETURN count(e) AS edges }
RETURN 'Job' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:PipelineRun) RETURN count(n) AS nodes }
CALL () { MATCH (:PipelineRun)-[e]->() RETURN count(e) AS edges }
RETURN 'PipelineRun' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Producer) RETURN count(n) AS nodes }
CALL () { MATCH (:Producer)-[e]->() RETURN count(e) AS edges }
RETURN 'Producer' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:SchemaVersion) RETURN count(n) AS nodes }
CALL () { MATCH (:SchemaVersion)-[e]->() RETURN count(e) AS edges }
RETURN 'SchemaVersion' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Source) RETURN count(n) AS nodes }
CALL () { MATCH (:Source)-[e]->() RETURN count(e) AS edges }
RETURN 'Source' AS label, nodes, edges
UNION ALL
CALL () { MATCH (n:Symlink) RETURN count(n) AS nodes }
CALL () { MATCH (:Symlink)-[e]->() RETURN count(e) AS edges }
RETURN 'Symlink' AS label, nodes, edges
