// Remove the FEEDS edges of runs from versions that are not in `versions`.
// access: write
// params: $rows LIST<MAP>
// returns: urn
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.consumer})<-[e:FEEDS]-(v:Source|Artifact)
WHERE NOT v.urn IN row.versions
DELETE e
RETURN DISTINCT v.urn AS urn
