#include "CVersion.h"

#ifndef OPDASH_COMMIT
#define OPDASH_COMMIT ""
#endif

const char *opdash_commit(void) { return OPDASH_COMMIT; }
