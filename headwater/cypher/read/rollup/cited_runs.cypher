// Return a page of answers, in the order of their urns, with the runs that wrote the versions each
// cites.
// access: read
// params: $after STRING = "", $limit INTEGER = 1000
// returns: urn, runs
// example: run by `headwater pipeline rollup`
MATCH (n:Answer)
WHERE n.urn > $after
WITH n ORDER BY n.urn LIMIT $limit
RETURN n.urn AS urn, [(n)<-[:CITED_BY]-(:Artifact)<-[:PRODUCED]-(r:PipelineRun) | r.urn] AS runs
