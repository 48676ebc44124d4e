module

public import Serq.Model.State

/-!
# Cached prefixes

The entries of a pool: consuming the own prefix at an admission, evicting block by block to make room,
keeping a prefix at a release. Entries are in release order, so the first is the least recently released.
-/

@[expose] public section

namespace Serq

/-- A session's own entry is consumed: how much of it, and the entries left. What is not consumed
stays, dead. -/
def consume (i : Nat) (amount : Nat → Nat) : List Entry → Nat × List Entry
  | [] => (0, [])
  | e :: es =>
    if e.owner = some i then
      (amount e.size,
        if e.size - amount e.size = 0 then es
        else { e with owner := none, size := e.size - amount e.size } :: es)
    else
      ((consume i amount es).1, e :: (consume i amount es).2)

/-- The amount an admission consumes of an entry: its whole blocks, within the bound if there is one. -/
def consumed (block : Nat) (bound : Option Nat) (size : Nat) : Nat :=
  match bound with
  | none => roundDown block size
  | some r => roundDown block (if r ≤ size then r else size)

/-- One block is evicted, from the first entry; an entry used up disappears. -/
def evictBlock (block : Nat) : List Entry → List Entry
  | [] => []
  | e :: es => if e.size ≤ block then es else { e with size := e.size - block } :: es

/-- Evicts, block by block, until `need` fits next to what is allocated and cached, or nothing is cached. -/
def evict (cap block allocated need : Nat) : Nat → List Entry → List Entry
  | 0, es => es
  | _ + 1, [] => []
  | fuel + 1, e :: es =>
    if allocated + sumOf Entry.size (e :: es) + need ≤ cap then e :: es
    else evict cap block allocated need fuel (evictBlock block (e :: es))

/-- Each eviction removes an entry or at least one unit, so this many suffice. -/
def evictFuel (es : List Entry) : Nat := sumOf Entry.size es + es.length

/-- The same, entry by entry: an entry loses all the blocks it must at once. -/
def evictEntries (cap block allocated need : Nat) : List Entry → List Entry
  | [] => []
  | e :: es =>
    let over := allocated + sumOf Entry.size (e :: es) + need - cap
    if over = 0 then e :: es
    else if e.size ≤ roundUp block over then evictEntries cap block allocated need es
    else { e with size := e.size - roundUp block over } :: es

/-- The entries of sessions. -/
def liveEntries : List Entry → List Entry
  | [] => []
  | e :: es => if e.owner.isSome then e :: liveEntries es else liveEntries es

/-- A pool after making room for `need` more units. -/
def Pool.makeRoom (q : Pool) (cap block need : Nat) : Pool :=
  { q with entries := evict cap block q.allocated need (evictFuel q.entries) q.entries }

/-- The entries without a session's own. -/
def dropOwn (i : Nat) : List Entry → List Entry
  | [] => []
  | e :: es => if e.owner = some i then dropOwn i es else e :: dropOwn i es

/-- The entries after a session keeps `size` units, stamped with the release. -/
def keep (i size time number : Nat) (es : List Entry) : List Entry :=
  dropOwn i es ++ [{ owner := some i, size, time, number }]

/-- A pool from which a session takes units after consuming its own prefix by `amount`; with the
amount consumed. -/
def Pool.take (q : Pool) (cap block i units : Nat) (amount : Option (Nat → Nat)) : Nat × Pool :=
  let own : Nat × List Entry :=
    match amount with
    | none => (0, q.entries)
    | some f => consume i f q.entries
  let room := { q with entries := own.2 }.makeRoom cap block units
  (own.1, { room with allocated := room.allocated + units, holders := room.holders ++ [i] })

/-- A pool to which a session gives back units, keeping some of them cached. -/
def Pool.giveBack (q : Pool) (i units kept time number : Nat) : Pool :=
  { q with
    allocated := q.allocated - units
    holders := without i q.holders
    entries := if kept = 0 then q.entries else keep i kept time number q.entries }

end Serq
