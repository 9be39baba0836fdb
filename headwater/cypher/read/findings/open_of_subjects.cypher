// Return how many findings of the given nodes are open, and the most urgent tier of each node's.
// access: read
// params: $urns LIST<STRING>
// returns: subject, count, tier
// example: headwater cypher read/findings/open_of_subjects --param urns=dataset:file:/raw/planes
UNWIND $urns AS subject
MATCH (f:Finding {subject: subject})
WHERE f.isOpen = true
RETURN subject, count(*) AS count, min(f.tier) AS tier
