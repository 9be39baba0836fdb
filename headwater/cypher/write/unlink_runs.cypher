// Take away what a run is no longer thought to have read.
// access: write
// params: $rows LIST<MAP>
// returns: urn
// example: run by the worker
UNWIND $rows AS row
MATCH (r:PipelineRun {urn: row.consumer})<-[e:FEEDS]-(v:Source|Artifact)
WHERE NOT v.urn IN row.versions
DELETE e
RETURN DISTINCT v.urn AS urn
