// Delete every edge of datasets whose names are joined or split. Nodes and names stay.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
MATCH (l:WriteLock {name: 'graph'})
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
SET d.lineageRevision = l.revision
WITH l, d
MATCH (d)-[e:!SYMLINK_OF]-(n)
FOREACH (end IN CASE WHEN n:Job OR n:Dataset THEN [n] ELSE [] END |
  SET end.lineageRevision = l.revision)
DELETE e
