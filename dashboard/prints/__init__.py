"""Charts for paper: plain data in, a figure for print and for files out."""
