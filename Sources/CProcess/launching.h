#pragma once

#include <stdatomic.h>
#include <sys/types.h>

enum { cprocess_launching_capacity = 64 };

/// The children that the callers of `cprocess_spawn` don't know yet; -1 before the child has its pid, 0 in a free slot.
struct cprocess_launching {
  _Atomic pid_t pids[cprocess_launching_capacity];
};

/// The time before the first launch, as in `cprocess_info`; 0 if there was none.
uint64_t cprocess_first_launch(void);

/// Has later launches recorded in `shared`, which is never freed.
void cprocess_keep_launching(struct cprocess_launching *shared);
