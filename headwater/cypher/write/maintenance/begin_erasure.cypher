// Mark the graph as being erased by $erasure, so that no other writer writes, and delete the
// checkpoints of all spools. The mark of an earlier erasure is replaced, which then cannot go on.
// Needs the write lock. A scan of a label with one node for each spool.
// access: write
// params: $erasure STRING
// returns: nothing
// example: run by `headwater rebuild --erase`
MATCH (l:WriteLock {name: 'graph'})
SET l.erasing = $erasure
WITH l
MATCH (c:Checkpoint)
DELETE c
