// Take away what an answer is no longer thought to cite.
// access: write
// params: $rows LIST<MAP>
// returns: urn
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Answer {urn: row.consumer})<-[e:CITED_BY]-(v)
WHERE NOT v.urn IN row.versions
DELETE e
RETURN DISTINCT v.urn AS urn
