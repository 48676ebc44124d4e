"""The official Lean: `lake` builds the project, a Lean program audits its axioms."""
