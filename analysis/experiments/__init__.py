"""Studies of the paper's results, run as commands."""
