"""Random programs of the text language, written by its grammar and typed so that every one is valid."""
