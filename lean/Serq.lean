module

public import Serq.Generated
public import Serq.Model.Covered
public import Serq.Model.Encoding
public import Serq.Model.Fragment
public import Serq.Model.Greedy
public import Serq.Model.Ledger
public import Serq.Model.Pieces
public import Serq.Model.Rates
public import Serq.Model.Run
public import Serq.Theorems.Attributes
public import Serq.Theorems.BatchIsFill
public import Serq.Theorems.Claims
public import Serq.Theorems.Conservation
public import Serq.Theorems.Encoding
public import Serq.Theorems.Eviction
public import Serq.Theorems.EveryIteration
public import Serq.Theorems.LeastRecentlyReleased
public import Serq.Theorems.Memory
public import Serq.Theorems.MemoryNeedsCover
public import Serq.Theorems.NeverGrows
public import Serq.Theorems.PoolAlgebra
public import Serq.Theorems.Pieces
public import Serq.Theorems.Rates
public import Serq.Theorems.Reaching
public import Serq.Theorems.ReleaseOrder
public import Serq.Theorems.ServingOrder
public import Serq.Theorems.VllmCovers
public import Serq.Theorems.WorkConservation
public import Serq.Theorems.Runs.CacheTrace
public import Serq.Theorems.Runs.Membership
public import Serq.Theorems.Runs.Published
public import Serq.Theorems.Runs.Regressions

/-!
# Serq

The executable semantics of the serQ fragment (`Serq.Model`), what is proved about it (`Serq.Theorems`), and
the files written from IR programs (`Serq.Generated`).
-/
