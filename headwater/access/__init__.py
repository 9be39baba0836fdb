"""Who may do what: keys, what each of them is for, and the log of what was asked and refused."""
