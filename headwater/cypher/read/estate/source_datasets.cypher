// Return those of the given datasets that are sources: registered, or read by a run before any run
// produced them.
// access: read
// params: $urns LIST<STRING>
// returns: urn, registered
// example: headwater cypher read/estate/source_datasets --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (s:Source)
USING INDEX SEEK s:Source(dataset)
WHERE s.dataset = urn AND EXISTS { (s)-[:VERSION_OF]->(:Dataset {urn: urn}) }
RETURN urn, coalesce(s.registered, false) AS registered
