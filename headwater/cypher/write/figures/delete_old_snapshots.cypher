// Delete the snapshots of figures before a day.
// access: write
// params: $day STRING
// returns: nothing
// example: headwater snapshot
MATCH (s:FigureSnapshot)
WHERE s.day < $day
DETACH DELETE s
