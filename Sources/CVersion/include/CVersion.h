#pragma once

// The commit that the program was built from, or "" if the build was not told: OPDASH_COMMIT in the environment of swift build.
const char *opdash_commit(void);
