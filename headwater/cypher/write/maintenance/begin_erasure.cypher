// Mark the graph as being erased, so that no other writer writes, and delete the checkpoints of all
// spools. Needs the write lock. A scan of a label with one node for each spool.
// access: write
// params: none
// returns: nothing
// example: run by `headwater rebuild --erase`
MATCH (l:WriteLock {name: 'graph'})
SET l.erasing = true
WITH l
MATCH (c:Checkpoint)
DELETE c
