"""Data contracts: the Open Data Contract Standard read as it is, and what breaks its promises."""
