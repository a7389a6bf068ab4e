#pragma once
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <term.h>
#include <wchar.h>

// Declared by wchar.h only for programs that ask for X/Open.
extern int wcwidth(wchar_t);

// Wrappers of what Swift cannot import: macros, variadic functions, and globals that the library writes.

static inline WINDOW *nc_screen(void) { return stdscr; }
static inline void nc_clear_on_refresh(void) { clearok(curscr, TRUE); }
static inline TERMINAL *nc_current_term(void) { return cur_term; }
static inline int nc_colors(void) { return COLORS; }
static inline int nc_color_pairs(void) { return COLOR_PAIRS; }

/// The width of a scalar in cells as curses counts it; -1 for one unknown to the locale.
static inline int nc_width(uint32_t scalar) { return wcwidth((wchar_t)scalar); }

enum { nc_cell_scalars = CCHARW_MAX };

static inline attr_t nc_bold(void) { return A_BOLD; }
static inline attr_t nc_dim(void) { return A_DIM; }
static inline attr_t nc_underline(void) { return A_UNDERLINE; }
static inline attr_t nc_reverse(void) { return A_REVERSE; }
static inline attr_t nc_italic(void) {
#ifdef A_ITALIC
  return A_ITALIC;
#else
  return A_NORMAL;
#endif
}

/// Makes a cell of `count` scalars, the first of them spacing and the others combining.
static inline void nc_make_cell(cchar_t *cell, const uint32_t *scalars, int count, attr_t attributes, int pair) {
  wchar_t text[CCHARW_MAX + 1] = {0};
  for (int i = 0; i < count && i < CCHARW_MAX; i++) text[i] = (wchar_t)scalars[i];
  setcchar(cell, text, attributes, (short)pair, NULL);
}

/// Puts `count` cells of a row from column `x` on; never wraps, never scrolls.
static inline void nc_put_cells(int y, int x, const cchar_t *cells, int count) {
  mvwadd_wchnstr(stdscr, y, x, cells, count);
}

static inline void nc_move_cursor(int y, int x) { wmove(stdscr, y, x); }

/// A string capability of the terminal, or null when it has none.
static inline const char *nc_capability(const char *name) {
  char *value = tigetstr((char *)name);
  return value == (char *)-1 ? NULL : value;
}

static inline void nc_remove(char *text, const char *part, size_t from) {
  char *place = text == NULL ? NULL : strstr(text, part);
  if (place == NULL) return;
  char *rest = place + strlen(part);
  memmove(place + from, rest, strlen(rest) + 1);
}

/// Shortens the sequences for attributes: to be called once, before anything is drawn.
///
/// The descriptions of xterm and its relatives select the ASCII set with every change, which is needed only after line
/// drawing, and write a redundant zero. That was a fifth of a small frame.
static inline void nc_shorten_looks(void) {
  // tigetstr returns the strings that curses uses; the macros of term.h refer to a copy.
  nc_remove((char *)nc_capability("sgr0"), "\033(B", 0);
  nc_remove((char *)nc_capability("sgr"), "%?%p9%t\033(0%e\033(B%;", 0);
  nc_remove((char *)nc_capability("sgr"), "\033[0", 2);
}

/// The string that moves the cursor, or null.
static inline const char *nc_cursor_address(int y, int x) {
  const char *format = nc_capability("cup");
  return format == NULL ? NULL : tparm((char *)format, (long)y, (long)x, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
}
