#pragma once

// What the parts of launching know of each other.

#include <stdbool.h>
#include <sys/resource.h>

/// The limit of descriptors that children get back.
extern struct rlimit cprocess_original_limit;
extern bool cprocess_limit_was_raised;
extern bool cprocess_drops_child_signals;
