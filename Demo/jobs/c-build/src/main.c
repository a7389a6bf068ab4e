#include <stdlib.h>

#include "config.h"
#include "count.h"

#if !HAVE_STRINGS_H
#error "strings.h is missing"
#endif

int main(void) {
  struct table table = {0};
  char word[WORD_LIMIT + 1];
  while (next_word(stdin, word)) table_add(&table, word);
  table_sort(&table);
  table_print(&table, stdout);
  free(table.entries);
  return 0;
}
