// Delete the samples of service levels before an instant.
// access: write
// params: $before DATETIME
// returns: nothing
// example: headwater serve
MATCH (s:ServiceLevelSample)
WHERE s.hour < $before
DETACH DELETE s
