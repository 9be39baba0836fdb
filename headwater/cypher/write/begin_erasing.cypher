// Mark the graph as one that is being erased, so that nobody writes into it, and forget how far spools were folded.
// Needs the write lock. A scan of a label that has a node for each spool and no more.
// access: write
// params: none
// returns: nothing
// example: run by `headwater rebuild --erase`
MATCH (l:WriteLock {name: 'graph'})
SET l.erasing = true
WITH l
MATCH (c:Checkpoint)
DELETE c
