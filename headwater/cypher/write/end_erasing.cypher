// The graph is erased: whoever wants may write into it, and whoever holds what it knew of it must forget that.
// access: write
// params: none
// returns: nothing
// example: run by `headwater rebuild --erase`
MATCH (l:WriteLock {name: 'graph'})
REMOVE l.erasing
SET l.erasedAt = l.revision
