// Return the given datasets as the detectors of findings read them. `registered` is True if
// somebody registered a capture of the dataset. `linked`: it comes from another dataset, or another
// from it, and no job is known.
// access: read
// params: $urns LIST<STRING>
// returns: urn, dataset, captured, registered, linked
// example: headwater cypher read/findings/dataset_descriptions --param
//   urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
WITH urn, d, COLLECT {
  MATCH (s:Source)
  USING INDEX SEEK s:Source(dataset)
  WHERE s.dataset = urn
  RETURN {captured: s.capturedAt, registered: coalesce(s.registered, false)}
} AS sources
RETURN urn, d {.namespace, .name, type: coalesce(d.subType, d.type), .firstSeen, .lastSeen,
    .droppedAt, .deletedAt, .deprecatedAt, .deprecation, .owners, .tags, .columns,
    .description} AS dataset,
  [s IN sources WHERE s.captured IS NOT NULL | s.captured] AS captured,
  any(s IN sources WHERE s.registered) AS registered,
  EXISTS { MATCH (d)-[e:FEEDS]-(:Dataset) WHERE e.current } AS linked
