// Set the origins of versions, among the versions that their run read. Only versions with known
// origins are visited: with thousands of inputs and outputs, every pair would be too many.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.run})-[:PRODUCED]->(a:Artifact)
WITH r, a, coalesce(row.derived[a.urn], []) AS datasets
WHERE size(datasets) > 0 OR EXISTS { (a)-[:DERIVED_FROM]->() }
OPTIONAL MATCH (v:Source|Artifact)-[:FEEDS]->(r)
WHERE v.dataset IN datasets
WITH a, collect(v) AS wanted
CALL (a, wanted) {
  MATCH (a)-[old:DERIVED_FROM]->(v)
  WHERE NOT v IN wanted
  DELETE old
}
CALL (a, wanted) {
  UNWIND wanted AS v
  MERGE (a)-[:DERIVED_FROM]->(v)
}
