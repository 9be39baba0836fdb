// Delete the versions and sources of datasets whose names are joined or split. The same transaction
// writes their producers and consumers again.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(v:Artifact|Source)
DETACH DELETE v
