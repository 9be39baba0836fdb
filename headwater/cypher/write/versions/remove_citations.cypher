// Remove the CITED_BY edges of answers to nodes that are not in `versions`.
// access: write
// params: $rows LIST<MAP>
// returns: urn
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Answer {urn: row.consumer})<-[e:CITED_BY]-(v)
WHERE NOT v.urn IN row.versions
DELETE e
RETURN DISTINCT v.urn AS urn
