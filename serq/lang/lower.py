"""The third pass: a declared program in the kernel's terms (api.md §7.3-§7.11), ready to be numbered."""

from __future__ import annotations

import math
from collections.abc import Mapping

from serq.lang import tree
from serq.lang.constants import evaluate, shown, whole
from serq.lang.context import Context, Side
from serq.lang.engines import lower_engine, register_value
from serq.lang.kernel import Kernel, KernelPool, KernelStage
from serq.lang.model import Model, PoolFamily, StageFamily
from serq.lang.rewrite import map_children
from serq.lang.scopes import Scope
from serq.lang.statements import Lowering
from serq.lang.tree import Block, Expr, Name, Ref


def lower(model: Model, definitions: Mapping[str, object]) -> Kernel:
    """The kernel of a program; mistakes go to the model's findings."""
    return _Lower(model, definitions).program()


class _Lower:
    """Holds what the parts of a program share while they are lowered."""

    def __init__(self, model: Model, definitions: Mapping[str, object]) -> None:
        self.model = model
        self.findings = model.findings
        self.scope = Scope(model)
        self.lowering = Lowering(model, definitions)
        self.kernel = Kernel(model)

    def program(self) -> Kernel:
        kernel, model = self.kernel, self.model
        self._workload()
        self._server()
        kernel.pools = [self._pool(family) for family in model.pools.values()]
        kernel.stages = [self._stage(family) for family in model.stages.values()]
        kernel.registers = {n: register_value(e, s, model) for n, (e, s) in model.registers.items()}
        kernel.gauges = [map_children(g, self.scope.expr, self.scope.resource) for g in model.gauges]
        kernel.claims = [map_children(c, self.scope.expr, self.scope.resource) for c in model.claims]
        kernel.share = self._share()
        tool = self.lowering.serving.client_tool
        kernel.client_tool = None if tool is None else tool.node
        kernel.declared = self.lowering.declared
        kernel.records = {name: fields for name, (fields, _) in self.lowering.records.items()}
        return kernel

    # The workload and the server

    def _workload(self) -> None:
        workload = self.model.workload
        if workload is None:
            return
        kernel = self.kernel
        session: Block | None = None
        for item in workload.items:
            match item:
                case tree.Arrive():
                    kernel.arrival = item
                case tree.Trace():
                    kernel.trace = item
                case tree.InitBlock(body=body):
                    kernel.init = body
                case tree.TurnBlock(body=body):
                    kernel.turn = body
                case tree.Session(body=body):
                    session = session or body
                case tree.Hidden(names=names):
                    kernel.hidden += names
        if kernel.arrival is not None:
            kernel.arrival = map_children(kernel.arrival, self.scope.expr)
        kernel.init = kernel.init and self._block(kernel.init, "init")
        kernel.turn = kernel.turn and self._block(kernel.turn, "turn")
        if session is None:
            kernel.session = Block(workload.span, (tree.Turn(workload.span),))
        else:
            kernel.session = self._block(session, "session")

    def _server(self) -> None:
        server = self.model.server
        if server is not None:
            self.kernel.server = self._block(server.body, "server")

    def _block(self, block: Block, side: Side) -> Block:
        order = self.model.server_order if side == "server" else self.model.workload_order
        return self.lowering.block(block, Context(self.scope, side, order))

    # Pools

    def _pool(self, family: PoolFamily) -> KernelPool:
        name = family.name
        cap = math.inf
        if family.cap is not None:
            cap = _or(evaluate(family.cap, self.findings, f"the cap of `{name}`"), math.inf)
        pool = KernelPool(family, cap, None)
        declaration = family.declaration
        for option in declaration.options if declaration is not None else ():
            self._option(pool, option)
        return pool

    def _option(self, pool: KernelPool, option: tree.PoolOption) -> None:
        match option:
            case tree.BlockSize(value=value):
                pool.block = self._block_size(value)
            case tree.Evict(keys=keys):
                pool.evict = self._keys(keys)
            case tree.Preempt():
                pool.preempt, pool.tail = self._preempt(option)
            case tree.QueueOrder(keys=keys):
                pool.queue = self._keys(keys)
            case tree.ReserveHeld():
                pool.reserve_held = True
            case tree.Spill():
                pool.spill = map_children(option, self.scope.expr, self.scope.resource)
            case _:
                pass  # the cap is read with the declaration

    def _block_size(self, value: Expr) -> float | None:
        size = evaluate(value, self.findings, "a block")
        if size is None or size == math.inf:
            return None
        if not size > 0:
            self.findings.error("SQ326", f"a block is above 0: this is {shown(size)}", value)
            return None
        return size

    def _keys(self, keys: tuple[Expr, ...] | None) -> tuple[Expr, ...] | None:
        return None if keys is None else tuple(self.scope.expr(k) for k in keys)

    def _preempt(self, option: tree.Preempt) -> tuple[tuple[Expr, ...] | None, bool]:
        span = option.span
        if option.policy == "none":
            return None, False
        if option.policy == "lifo":
            return (tree.Unary(span, "-", Ref(span, Name(span, "admission"))),), False
        return self._keys(option.keys), option.requeue == "tail"

    # Stages

    def _stage(self, family: StageFamily) -> KernelStage:
        if family.engine is not None:
            return KernelStage(family, lower_engine(family.engine, self.model), family.engine)
        match family.kind:
            case tree.Fifo(servers=servers):
                count = 1 if servers is None else whole(servers, self.findings, "a number of servers")
                return KernelStage(family, count or 1)
            case tree.Ps(capacity=capacity):
                return KernelStage(family, self.scope.expr(capacity))
            case _:
                span = family.node.span
                return KernelStage(family, Ref(span, Name(span, "present")))

    # The policy of flows

    def _share(self) -> str | None:
        """The program's one policy (SQ663)."""
        policy: str | None = None
        own: tree.Share | None = None
        for item in self.model.shares:
            given = item.policy if isinstance(item, tree.Share) else item.share
            if isinstance(item, tree.Share) and (own is not None or policy is not None):
                self.findings.error(
                    "SQ663", "the program's `share` is given twice", item, hint="keep one of them"
                )
            elif policy is not None and given != policy:
                message = "shared stages are divided by one policy, and this is another"
                self.findings.error("SQ663", message, item, hint=f"write `share {policy}`")
            elif own is not None:
                message = "a program with a relation does not write `share` on its own"
                self.findings.error("SQ663", message, own, hint="remove it: the relation says the policy")
            if isinstance(item, tree.Share):
                own = own or item
            policy = policy or given
        return policy


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
