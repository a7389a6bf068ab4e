/* Counts the words of a text. */
#ifndef COUNT_H
#define COUNT_H

#include <stddef.h>
#include <stdio.h>

#define WORD_LIMIT 63

struct entry {
  char word[WORD_LIMIT + 1];
  size_t count;
};

struct table {
  struct entry *entries;
  size_t used, size;
};

/* words.c: reads the next word, in lower case; 0 at the end. */
int next_word(FILE *input, char word[WORD_LIMIT + 1]);

/* table.c: counts a word; sorts the words by their counts. */
void table_add(struct table *table, const char *word);
void table_sort(struct table *table);

/* text.c: prints the table. */
void table_print(const struct table *table, FILE *output);

#endif
