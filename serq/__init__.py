"""serq: serving deployments as programs.

A deployment (memory pools, stages, engines, a workload, the path of a session)
is one program. Its intermediate representation, IR 13, is the hub: `serq.ir`
holds it, `serq.sim` runs it, `serq.lang` writes it from text.
"""

__version__ = "0.2.0"
