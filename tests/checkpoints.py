"""What tests read from a checkpoint."""

from __future__ import annotations

from headwater.ingest.write.transaction import Checkpoint


def counts(checkpoint: Checkpoint) -> tuple[int, int, int]:
    """Return the position and the numbers of folded and dead events of a checkpoint."""
    return checkpoint.position, checkpoint.folded, checkpoint.dead
