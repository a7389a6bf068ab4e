#include <stdlib.h>
#include <string.h>

#include "count.h"

void table_add(struct table *table, const char *word) {
  for (size_t i = 0; i < table->used; i++) {
    if (strcmp(table->entries[i].word, word) == 0) {
      table->entries[i].count++;
      return;
    }
  }
  if (table->used == table->size) {
    table->size = table->size ? table->size * 2 : 16;
    table->entries = realloc(table->entries, table->size * sizeof *table->entries);
    if (!table->entries) abort();
  }
  struct entry *entry = &table->entries[table->used++];
  strcpy(entry->word, word);
  entry->count = 1;
}

static int by_count(const void *left, const void *right) {
  const struct entry *a = left, *b = right;
  if (a->count != b->count) return a->count < b->count ? 1 : -1;
  return strcmp(a->word, b->word);
}

void table_sort(struct table *table) {
  if (table->used > 0) qsort(table->entries, table->used, sizeof *table->entries, by_count);
}
