// Return the statistics of the given producers, or of all if $urns is null.
// access: read
// params: $urns LIST<STRING> = null, $limit INTEGER = 1000
// returns: urn, producer, statistics
// example: headwater cypher read/findings/producers
MATCH (p:Producer)
WHERE p.urn IS NOT NULL AND ($urns IS NULL OR p.urn IN $urns)
RETURN p.urn AS urn, p.producer AS producer, p.statistics AS statistics
ORDER BY urn LIMIT $limit
