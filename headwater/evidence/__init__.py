"""Evidence packs: what is known of one node at one time, sealed so that it can be verified later, as JSON and as one
page that needs nothing else."""
