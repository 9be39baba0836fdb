"""Rules about data and who answers for them: policies, contracts, personal data."""
