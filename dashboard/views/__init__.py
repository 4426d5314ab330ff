"""One view per question that the page answers."""
