// Delete the findings of earlier analyses of the lake. A scan of the findings of the last two.
// access: write
// params: $analysed DATETIME
// returns: nothing
// example: run by `headwater pipeline analyse`
MATCH (a:Analysis)
WHERE a.analysedAt < $analysed
DETACH DELETE a
