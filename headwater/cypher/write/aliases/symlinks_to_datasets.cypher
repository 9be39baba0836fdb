// Turn symlinks into datasets of their own.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $urns AS urn
MATCH (s:Symlink {urn: urn})
OPTIONAL MATCH (s)-[e:SYMLINK_OF]->()
DELETE e
REMOVE s:Symlink
SET s:Dataset, s.lineageRevision = l.revision
