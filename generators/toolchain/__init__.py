"""The Lean toolchain: install it, build and check a project with it, audit what the proofs rest on.

    project = load_project(find_project(Path(".")))
    toolchain = find_toolchain("auto", project.folder)
    report = check_project(project, toolchain, Settings())

Two toolchains give the same report: the official one (`native`), whose verdict counts, and an
`embedded` build that is installed from package registries in seconds.
"""

from serq.generators.toolchain.check import Report, Settings, check_project
from serq.generators.toolchain.choose import KINDS, Toolchain, find_toolchain, set_up
from serq.generators.toolchain.project import Project, find_project, load_project

__all__ = [
    "KINDS",
    "Project",
    "Report",
    "Settings",
    "Toolchain",
    "check_project",
    "find_project",
    "find_toolchain",
    "load_project",
    "set_up",
]
