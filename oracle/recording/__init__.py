"""Recordings of the real vLLM scheduler: the host's side and, in `inside/`, what runs in a vLLM environment."""
