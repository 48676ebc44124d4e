"""The folder put on the import path of a vLLM environment: nothing but `vllm_recorder` is in it."""
