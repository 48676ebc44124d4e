"""The hub: models of IR 13, its tables, JSON in and out, the host API and validation.

Nothing of serq but `serq.diagnostics` is imported here.
"""
