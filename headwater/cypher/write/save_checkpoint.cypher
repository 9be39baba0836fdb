// Record how far a spool has been folded, in the very transaction that writes what was folded; `settled` is null when the
// graph has everything up to there.
// access: write
// params: $spool STRING, $position INTEGER, $folded INTEGER, $dead INTEGER, $settled INTEGER
// returns: nothing
// example: run by the worker
MERGE (c:Checkpoint {spool: $spool})
SET c.position = $position, c.folded = $folded, c.dead = $dead, c.settled = $settled, c.at = datetime()
