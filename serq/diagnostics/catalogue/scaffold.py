"""Small programs the documentation of codes is illustrated with."""

WORKLOAD = "workload { arrive poisson(1); turn { Size job = ~exp(0.5); Size n = 2; } }"
SERVER = "run desk (cost(desk, job));"
SCHEDULE = "schedule { advance running; admit waiting while (running.preempted == 0); }"


def program(
    declarations: str = "",
    server: str = SERVER,
    workload: str = WORKLOAD,
    *,
    before: str = "",
    stage: str = "stage desk : fifo;",
) -> str:
    """A program around the part that matters."""
    lines = [line for line in (stage, *declarations.strip().split("\n"), workload) if line.strip()]
    body = "".join(f"  {line.strip()}\n" for line in lines)
    return f"{before}fn main() {{\n{body}  server {{ {server} }}\n}}\n"


def engine(
    items: str = "",
    *,
    device: str = "kv cap 64;",
    schedule: str = SCHEDULE,
    tokens: str = "tokens cap 16;",
    execute: str = "execute (1);",
    pools: str = "pool kv on gpu { block 4; }\npool reqs on llm { }",
) -> str:
    """An engine on a device, with its pools."""
    clauses = " ".join(c for c in ("reqs cap 4;", tokens, items, schedule, execute) if c)
    return f"device gpu {{ {device} }}\nengine llm on gpu {{ {clauses} }}\n{pools}"


def request(
    body: str,
    taking: str = "taking reqs (1), kv (p)",
    *,
    before: str = "",
    parameters: str = "p",
) -> str:
    """An engine with a request of one parameter."""
    inner = f"request ({parameters}) {{ {before} {body} }}"
    admit = f"admit waiting while (running.preempted == 0) {taking};"
    return engine(inner, schedule=f"schedule {{ advance running; {admit} }}")


def pod(entries: str, roles: str = "decode", *, size: str = "", members: str = "serve fifo;") -> str:
    """A queue with a pool and a stage."""
    return f"queue pod{size} : {roles} {{ pool kv {{ cap 8; }} {members} {entries} }}"
