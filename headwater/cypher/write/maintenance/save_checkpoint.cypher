// Record how far a spool is folded, in the transaction that writes the folded events. `settled` is
// null if the graph has everything up to there.
// access: write
// params: $spool STRING, $position INTEGER, $folded INTEGER, $dead INTEGER, $settled INTEGER
// returns: nothing
// example: run by the worker
MERGE (c:Checkpoint {spool: $spool})
SET c.position = $position, c.folded = $folded, c.dead = $dead, c.settled = $settled,
    c.at = datetime()
