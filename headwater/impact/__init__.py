"""The impact of a planned change: affected assets, the severity for each, and the evidence."""
