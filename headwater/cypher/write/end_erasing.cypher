// The graph is erased: whoever wants may write into it.
// access: write
// params: none
// returns: nothing
// example: run by `headwater rebuild --erase`
MATCH (l:WriteLock {name: 'graph'})
REMOVE l.erasing
