"""The demonstration state: Missouri, with drawn block groups inside real county outlines."""
