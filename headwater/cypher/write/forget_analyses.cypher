// Take out what earlier analyses of the lake found. A scan of what the last two found.
// access: write
// params: $analysed DATETIME
// returns: nothing
// example: run by `headwater pipeline analyse`
MATCH (a:Analysis)
WHERE a.analysedAt < $analysed
DETACH DELETE a
