"""SQ86x–SQ87x: what the checker finds before a run (`serq.check.rules`, one file a rule)."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ860",
        "an amount that may be negative or NaN",
        "The run would stop at it, for one unlucky draw.",
        "Bound the expression with max(0, …), or correct its inputs.",
    ),
    Code(
        "SQ861",
        "a guard that may be neither 0 nor 1",
        "The run would stop at it; a count used as a test works until it reaches 2.",
        "Write a comparison, such as `x > 0`.",
    ),
    Code(
        "SQ862",
        "an index that may leave its family",
        "The run would stop at it; an index off by one only shows for the last member.",
        "Bound and round the index, or let `choose` find it.",
    ),
    Code(
        "SQ863",
        "a divisor that may be 0",
        "The quotient is then an infinity or NaN, which turns up far away.",
        "Guard the division, or bound the divisor with max(1, …).",
    ),
    Code(
        "SQ864",
        "a hold that can fail to fit, or never fits",
        "The request is refused, or it waits at the head of its queue for ever and all behind it wait too.",
        "Refuse such requests before the hold, ask for less, or raise the cap.",
    ),
    Code(
        "SQ865",
        "a body that outgrows its pool, even alone",
        "The request preempts itself for ever, or waits for ever for room only it could give back.",
        "Bound the length by the capacity, reserve what the body grows to, or raise the cap.",
    ),
    Code(
        "SQ866",
        "growth that is not reserved, in a pool that does not preempt",
        "Two requests can each grow half-way and then wait for each other for ever.",
        "Preempt, take the whole length at once, or reserve it in a pool with `reserve held`.",
    ),
    Code(
        "SQ867",
        "a cycle of hold and wait between pools",
        "Around the cycle each session can hold what the next one needs.",
        "Take the pools in one order everywhere, or all of them in one hold.",
    ),
    Code(
        "SQ868",
        "a waiter that newcomers can overtake for ever",
        "With keys that do not age, a session waits as long as better ones keep coming.",
        "Let a key age, such as `key - weight * waited`, or serve first come, first served.",
    ),
    Code(
        "SQ869",
        "a pass through a loop that may take no time",
        "Passes repeat at one instant; after 1 000 the run stops.",
        "Bound the work of a run in the loop from below.",
    ),
    Code(
        "SQ870",
        "an iteration that costs nothing, or less",
        "An iteration of tokens in no time stops the run.",
        "Add a fixed part above 0, or bound the cost with max(…).",
    ),
    Code(
        "SQ871",
        "a token budget or chunk that is never above 0",
        "With no budget an iteration schedules nothing; a chunk of 0 lifts the cap.",
        "Bound it with max(1, …).",
    ),
    Code(
        "SQ872",
        "a guard that always reads the same",
        "An arm that nothing reaches is usually a guard that is not the one meant.",
        "Correct the guard, or keep the arm that runs.",
    ),
    Code(
        "SQ873",
        "an attribute that is assigned and never read",
        "The statement is left over, or the one that should read it names another.",
        "Remove the assignment, or read the attribute.",
    ),
    Code(
        "SQ874",
        "an attribute that may be read before it is set",
        "It silently reads 0.",
        "Set it on every way to the reading, or in `init`.",
    ),
    Code(
        "SQ875",
        "a claim that says nothing",
        "A claim out of scope for every session, or true of any numbers, proves nothing.",
        "State the property meant.",
    ),
    Code(
        "SQ876",
        "a subtraction in a claim that goes below zero",
        "Over the natural numbers of the Lean model such a difference is 0.",
        "Move the subtracted part to the other side of the comparison.",
    ),
    Code(
        "SQ877",
        "keys that cannot tell candidates apart",
        "The order is then its tie rule, whatever the keys say.",
        "Name what should decide, or leave the keys out.",
    ),
    Code(
        "SQ878",
        "a scheduler decision that reads a hidden attribute through assignments",
        "A scheduler that knows an answer's length beforehand is better than any real one.",
        "Read what the scheduler may know, such as a bound.",
    ),
    Code(
        "SQ879",
        "programs that cannot be compared",
        "Two programs are compared place by place, so they need the same places.",
        "Compare programs with the same pools, stages and statements.",
    ),
    Code(
        "SQ895",
        "an input that shapes the program",
        "Each value is a program of its own, and only some of them were asked.",
        "Ask for a shorter range, or for one value with `--set`.",
    ),
    Code(
        "SQ896",
        "a suppression that is not one, or has no reason",
        "A finding that is expected is expected for a reason, and who reads the program next needs it.",
        "Write `// serq: allow(RULE) because REASON`.",
    ),
    Code(
        "SQ897",
        "a suppression of a rule that does not exist",
        "It suppresses nothing, and the finding it was meant for is reported.",
        "Name a rule of the checker, such as `hold-and-wait`.",
    ),
    Code(
        "SQ898",
        "a suppression that suppresses nothing",
        "The finding it was written for is gone, or stands on another line; left there it would hide the next one.",
        "Remove it, or put it above the line of the finding.",
    ),
)
