#pragma once
#include <sqlite3.h>

/// The variadic `sqlite3_db_config`, which Swift does not import: whether the last connection to close checkpoints.
static inline int csqlite_set_checkpoint_on_close(sqlite3 *database, int is_on) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_on, (int *)0);
}
