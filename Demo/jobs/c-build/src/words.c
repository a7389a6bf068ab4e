#include <ctype.h>

#include "count.h"

int next_word(FILE *input, char word[WORD_LIMIT + 1]) {
  size_t length = 0;
  int c;
  while ((c = getc(input)) != EOF) {
    if (isalpha(c)) {
      if (length < WORD_LIMIT) word[length++] = (char)tolower(c);
    } else if (length > 0) {
      break;
    }
  }
  word[length] = '\0';
  return length > 0;
}
