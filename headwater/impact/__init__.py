"""What a change would break: changes, what sources of code refer to, and the severity that the evidence bears."""
