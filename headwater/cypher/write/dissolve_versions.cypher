// Take away the versions and sources of datasets whose names are joined to others or parted from them. What made and
// read them is made afresh in the same transaction.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(v:Artifact|Source)
DETACH DELETE v
