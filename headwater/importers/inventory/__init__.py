"""Inventories: lists of assets that exist, whether or not anybody sends lineage for them."""
