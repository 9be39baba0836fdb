// Return the canonical dataset of each given alias. Where the urn of the dataset is a hash, `facts`
// holds its name.
// access: read
// params: $urns LIST<STRING>
// returns: urn, canonical, facts
// example: run by the worker
UNWIND $urns AS urn
MATCH (:Symlink {urn: urn})-[:SYMLINK_OF]->(d:Dataset)
RETURN urn, d.urn AS canonical, CASE WHEN d.urn CONTAINS ':#' THEN d.facts ELSE null END AS facts
