// Record how far a spool is folded, in the transaction that writes the folded events. `settled` is
// null if the graph has everything up to there; `received` is the receipt of the last event.
// access: write
// params: $spool STRING, $position INTEGER, $folded INTEGER, $dead INTEGER, $settled INTEGER,
// $received INTEGER
// returns: nothing
// example: run by the worker
MERGE (c:Checkpoint {spool: $spool})
SET c.position = $position, c.folded = $folded, c.dead = $dead, c.settled = $settled,
    c.received = $received, c.at = datetime()
