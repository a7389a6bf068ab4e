#include "count.h"

void table_print(const struct table *table, FILE *output) {
  for (size_t i = 0; i < table->used; i++) {
    fprintf(output, "%zu %s\n", table->entries[i].count, table->entries[i].word);
  }
}
