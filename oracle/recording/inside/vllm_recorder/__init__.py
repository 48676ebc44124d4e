"""Runs inside a vLLM environment (`ENV/bin/python -m vllm_recorder`): only vLLM and the standard library.

The scheduler and its KV-cache manager are the installed package's own, unmodified; only the model
runner is faked. Modules: `build` makes a scheduler from a scenario, `tokens` the requests' tokens,
`drive` steps it and writes down each step, `bench` times the steps, `relied` lists what all of this
relies on, `__main__` answers a host's questions.
"""
