"""Questions operators ask about a deployment of vLLM, answered with numbers.

`settings` and `reading` say what a deployment is, `logs` finds it in a server's log, `closed`
answers by closed form, `simulation` runs the program of the worst case, and `answers` sets the
two side by side.
"""
