// Mark the erasure as finished. Writers may write again, and caches of the graph must be cleared.
// access: write
// params: none
// returns: nothing
// example: run by `headwater rebuild --erase`
MATCH (l:WriteLock {name: 'graph'})
REMOVE l.erasing
SET l.erasedAt = l.revision
