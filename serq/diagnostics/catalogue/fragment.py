"""SQ980 to SQ999: why a program is outside the Lean fragment; rule n of membership has the code SQ979 + n."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ980",
        "fragment, rule 1: a setting the model has not",
        "Shared capacities, a number of open arrivals, a trace that is replayed from a file and registers have no "
        "counterpart in the state of the Lean model.",
        "Remove the setting; write a trace into the program with `serq ir --inline-trace`.",
    ),
    Code(
        "SQ981",
        "fragment, rule 2: sessions that are not written out",
        "The model starts from explicit sessions with their attributes and turns; it draws nothing, and presets take "
        "the place of `init`. A program that claims something may let sessions arrive instead (Poisson, at equal "
        "distances, as a batch), if what `init` draws is certainly a natural number.",
        "Write the sessions and their turns out, and preset what `init` sets; round draws with `floor`.",
    ),
    Code(
        "SQ983",
        "fragment, rule 4: stages other than one engine and delays",
        "The model has one engine, which comes first; every other stage is a delay.",
        "Declare the engine first, and delays as processor sharing of as much capacity as jobs are present.",
    ),
    Code(
        "SQ984",
        "fragment, rule 5: another serving order",
        "The model serves residents in the order of their admission, in chunks of any size.",
        "Serve without keys and without a granule.",
    ),
    Code(
        "SQ985",
        "fragment, rule 6: an iteration body",
        "The model plans an iteration by the default procedure, over the residents that one predicate lets through.",
        "Leave the body out, or write `serve only p; admit only p` while nobody was preempted, with one `p`.",
    ),
    Code(
        "SQ986",
        "fragment, rule 7: a budget that is not a natural constant",
        "The tokens of an iteration are a natural number in the model.",
        "Write the budget as a whole number.",
    ),
    Code(
        "SQ987",
        "fragment, rule 8: a chunk the model cannot read",
        "A chunk is read once an iteration, from the number of residents and the lengths of queues. A difference "
        "could be negative and change a decision.",
        "Write a constant, or a conditional on `residents` and `queued(pool)` without a difference.",
    ),
    Code(
        "SQ988",
        "fragment, rule 9: a cost that is no sum of natural multiples",
        "An iteration takes a constant of at least 1 and natural multiples of the tokens, the prefilled tokens, the "
        "decodes, their memory, the attention (even multiples), and of whole tiles of them. Where a program claims "
        "something and grows no hold, the constant may be missing if each token takes time.",
        "Choose a unit of time in which all coefficients are whole numbers.",
    ),
    Code(
        "SQ989",
        "fragment, rule 10: a family of pools or stages",
        "The model names pools and stages by number and has no index.",
        "Name one pool or stage.",
    ),
    Code(
        "SQ990",
        "fragment, rule 11: a pool the model has not",
        "A pool of the model has a natural capacity and block, evicts what was released first, and is admitted by "
        "itself or by the engine. It does not spill and keeps no reservation. What it caches goes block by block, so "
        "that a pool without blocks caches single units only.",
        "Use LRU, a whole capacity, and admission by the engine or none; give a pool that caches a block.",
    ),
    Code(
        "SQ991",
        "fragment, rule 12: queues and preemption",
        "At most one queue has a key, which is one number and not a difference; the engine's memory has none. Only "
        "the memory preempts, the newest first, and puts the victim back in front.",
        "Combine keys into one number; preempt the memory by `-admission`.",
    ),
    Code(
        "SQ993",
        "fragment, rule 14: a statement that is not modelled",
        "The model has turns, assignments, observations, branches, loops, holds without a lease, and runs: in a delay, "
        "or on the engine, where a run may grow the engine's memory.",
        "Remove the statement, or say the same with these.",
    ),
    Code(
        "SQ994",
        "fragment, rule 15: an expression that is not translated",
        "Expressions are over natural numbers: sums, differences, products, `min`, `max`, comparisons, conditionals, "
        "`floor(a / b)` and `ceil(a / k)`; a session reads its attributes, `now`, its cached prefix, the budget "
        "left.",
        "Write the expression with these; constants have to be natural numbers.",
    ),
    Code(
        "SQ995",
        "fragment, rule 16: the guard of a while",
        "A guard has to be 0 or 1 for certain, and what feeds it may be neither subtracted nor divided by a variable: "
        "over the natural numbers a negative value would be 0 and change the decision.",
        "Count upwards and compare, or read `more` where nothing sets it.",
    ),
    Code(
        "SQ996",
        "fragment, rule 17: a claim",
        "A claim speaks of a family of workloads whose sessions arrive; it reads what the model keeps of an iteration, "
        "or totals, counts and prefix totals at the end, and some session must be what it is given.",
        "Let the sessions arrive, or remove the claim; write it with comparisons of whole numbers.",
    ),
    Code(
        "SQ997",
        "fragment, rule 18: holds, loops and ends the model does not allow",
        "A session holds a pool once at a time and grows the memory inside a hold of it; every pass through a loop "
        "reaches a run; nothing follows a loop or an end.",
        "Merge holds of one pool, put a run into the loop, remove what is never reached.",
    ),
    Code(
        "SQ998",
        "fragment, rule 19: a value that is not a natural number",
        "Every quantity of the model is a natural number: tokens, units, time.",
        "Choose units in which the sessions' values are whole numbers from 0.",
    ),
)
