"""The embedded Lean: a WebAssembly build from a package registry, made to start fast, driven as a process."""
