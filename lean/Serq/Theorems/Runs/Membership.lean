module

public import Serq.Model.Fragment
public import Serq.Theorems.Runs.Request
public import Serq.Theorems.Runs.CacheTrace

/-!
# The programs of the recorded runs belong to the fragment
-/

public section

namespace Serq

theorem a_recorded_request_belongs_to_the_fragment :
    InFragment (Request.deployment 32 8 144 24)
      (Request.workload [Request.client 60 12 1, Request.client 30 6 1]) (Request.program 24) := by
  decide +kernel

theorem the_cache_trace_belongs_to_the_fragment :
    InFragment CacheTrace.deployment CacheTrace.workload CacheTrace.program := by decide +kernel

/-- A loop that passes no run does not belong to the fragment. -/
theorem an_idle_loop_does_not_belong_to_the_fragment :
    ¬ InFragment CacheTrace.deployment CacheTrace.workload (.loop (.set 3 0 .done)) := by decide +kernel

/-- A guard that is a difference does not belong to the fragment. -/
theorem a_subtracting_guard_does_not_belong_to_the_fragment :
    ¬ InFragment CacheTrace.deployment CacheTrace.workload
      (.while (.lt 0 (.var (.attr 3) - 1)) (.run .delay 1 .done) .finish) := by decide +kernel

end Serq
