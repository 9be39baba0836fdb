"""Which columns hold personal data, and which models, answers and exports it reaches unmasked."""
