#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The guardian calls these functions after a fork of a process with many threads: they must be async-signal-safe.

static const char variable[] = "OPDASH_RUN=";

/// The n of the first word `cookie/n` among the colon-separated words of `value`; -1 if there is none.
static int64_t launch_in(const char *value, const char *end, const char *cookie, size_t length) {
  while (value < end) {
    const char *colon = memchr(value, ':', (size_t)(end - value));
    const char *word_end = colon != NULL ? colon : end;
    if ((size_t)(word_end - value) > length + 1 && memcmp(value, cookie, length) == 0 && value[length] == '/') {
      int64_t number = 0;
      for (const char *digit = value + length + 1; digit < word_end && *digit >= '0' && *digit <= '9'; digit++) {
        // A job may have written it.
        if (number >= INT64_MAX / 10) return -1;
        number = number * 10 + (*digit - '0');
      }
      return number;
    }
    value = word_end + 1;
  }
  return -1;
}

bool cprocess_is_silent(struct cprocess_silence *silence, int needed, bool is_alive, bool is_doubtful) {
  silence->scans = is_alive ? 0 : silence->scans + 1;
  silence->certain = is_alive || is_doubtful ? 0 : silence->certain + 1;
  return silence->certain >= needed || silence->scans >= 32;
}

static char *append(char *to, const char *text) {
  while (*text != 0) *to++ = *text++;
  return to;
}

static void path_of(char *to, pid_t pid, const char *file) {
  char digits[12];
  int count = 0;
  do {
    digits[count++] = (char)('0' + pid % 10);
    pid /= 10;
  } while (pid > 0);
  to = append(to, "/proc/");
  while (count > 0) *to++ = digits[--count];
  to = append(to, file);
  *to = 0;
}

static ssize_t read_some(int descriptor, char *to, size_t size) {
  ssize_t count;
  do {
    count = read(descriptor, to, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

static pid_t number(const char **text) {
  pid_t value = 0;
  while (**text == ' ') (*text)++;
  while (**text >= '0' && **text <= '9') value = value * 10 + (*(*text)++ - '0');
  return value;
}

/// The fields of /proc/PID/stat, by their numbers in proc(5).
enum { stat_parent = 4, stat_group = 5, stat_session = 6, stat_foreground = 8, stat_start_time = 22, stat_memory = 23,
       stat_environment_end = 51, stat_count = 52 };

struct stat_line {
  char state;
  uint64_t fields[stat_count];
};

/// Reads /proc/PID/stat, negative numbers as 0; false if the process does not exist.
static bool read_stat(pid_t pid, struct stat_line *line) {
  char path[40], text[1024];
  path_of(path, pid, "/stat");
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  ssize_t count = read_some(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (count <= 0) return false;
  text[count] = 0;
  // The name itself may contain parentheses.
  const char *at = strrchr(text, ')');
  if (at == NULL || at[1] != ' ' || at[2] == 0) return false;
  *line = (struct stat_line){.state = at[2]};
  int field = 3;
  bool is_negative = false;
  for (at += 3; *at != 0; at++) {
    if (*at == ' ' && ++field == stat_count) break;
    if (*at == ' ' || *at == '-') is_negative = *at == '-';
    if (*at < '0' || *at > '9' || is_negative) continue;
    line->fields[field] = line->fields[field] * 10 + (uint64_t)(*at - '0');
  }
  return true;
}

static bool has_ended(const struct stat_line *line) {
  return line->state == 'Z' || line->state == 'X' || line->state == 'x';
}

uint64_t cprocess_ticks(void) {
  struct timespec now;
  // The kernel takes the start time from this clock.
  clock_gettime(CLOCK_BOOTTIME, &now);
  uint64_t frequency = (uint64_t)sysconf(_SC_CLK_TCK);
  return (uint64_t)now.tv_sec * frequency + (uint64_t)now.tv_nsec / (1000000000 / frequency);
}

bool cprocess_look(pid_t pid, struct cprocess_info *info) {
  struct stat_line line;
  if (!read_stat(pid, &line)) return false;
  *info = (struct cprocess_info){
      .pid = pid,
      .parent = (pid_t)line.fields[stat_parent],
      .group = (pid_t)line.fields[stat_group],
      .session = (pid_t)line.fields[stat_session],
      .ended = has_ended(&line),
      .start_time = line.fields[stat_start_time],
  };
  return true;
}

pid_t cprocess_foreground(pid_t leader) {
  struct stat_line line;
  // Without a terminal the field is -1.
  return read_stat(leader, &line) ? (pid_t)line.fields[stat_foreground] : 0;
}

enum environment {
  /// The process has ended; it may have started another just before.
  environment_gone,
  /// In the middle of an exec: the process has memory, but no environment yet.
  environment_coming,
  environment_there,
};

static enum environment environment_of(pid_t pid) {
  struct stat_line line;
  // Without memory it is exiting, or a kernel thread.
  if (!read_stat(pid, &line) || has_ended(&line) || line.fields[stat_memory] == 0) return environment_gone;
  return line.fields[stat_environment_end] != 0 ? environment_there : environment_coming;
}

struct directory_entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

size_t cprocess_list(struct cprocess_info *list, size_t capacity) {
  size_t found = 0;
  int directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return 0;
  _Alignas(struct directory_entry) char entries[4096];
  for (;;) {
    // opendir would allocate.
    long count = syscall(SYS_getdents64, directory, entries, sizeof entries);
    if (count <= 0) break;
    for (long at = 0; at < count;) {
      const struct directory_entry *entry = (const struct directory_entry *)(entries + at);
      at += entry->length;
      if (entry->name[0] < '1' || entry->name[0] > '9') continue;
      const char *name = entry->name;
      struct cprocess_info info;
      if (!cprocess_look(number(&name), &info)) continue;
      if (found < capacity) list[found] = info;
      found++;
    }
  }
  close(directory);
  return found;
}

/// As cprocess_launch_number, but undecided for every empty environment.
static int64_t read_launch_number(pid_t pid, const char *cookie) {
  char path[40], text[8192];
  path_of(path, pid, "/environ");
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  // Another user's process is not ours.
  if (descriptor < 0) return errno == ENOENT || errno == ESRCH ? cprocess_undecided : -1;
  bool is_empty = true;
  size_t length = strlen(cookie), kept = 0;
  int64_t found = -1;
  bool skipping = false;
  // An entry may span two reads; one that is longer than the buffer is skipped, because ours is shorter.
  while (found < 0) {
    ssize_t count = read_some(descriptor, text + kept, sizeof text - kept);
    if (count <= 0 && kept == 0) break;
    is_empty = false;
    bool last = count <= 0;
    size_t size = kept + (last ? 0 : (size_t)count), at = 0;
    for (;;) {
      char *end = memchr(text + at, 0, size - at);
      if (end == NULL && !last) break;
      const char *entry_end = end != NULL ? end : text + size;
      const char *entry = text + at;
      size_t entry_length = (size_t)(entry_end - entry);
      if (!skipping && entry_length >= sizeof variable - 1 && memcmp(entry, variable, sizeof variable - 1) == 0) {
        found = launch_in(entry + sizeof variable - 1, entry_end, cookie, length);
      }
      skipping = false;
      at += entry_length + 1;
      if (found >= 0 || at >= size) break;
    }
    if (last) break;
    if (at > size) at = size;
    kept = size - at;
    if (kept == sizeof text) {
      kept = 0;
      skipping = true;
    } else {
      memmove(text, text + at, kept);
    }
  }
  close(descriptor);
  return is_empty ? cprocess_undecided : found;
}

int64_t cprocess_launch_number(pid_t pid, const char *cookie) {
  // An environment that is set but reads as empty is empty, or was set between the two system calls.
  int empty = 0;
  for (int attempt = 0; attempt < 50; attempt++) {
    int64_t number = read_launch_number(pid, cookie);
    if (number != cprocess_undecided) return number;
    switch (environment_of(pid)) {
      case environment_gone: return cprocess_undecided;
      case environment_coming:
        empty = 0;
        sched_yield();
        break;
      case environment_there:
        if (++empty == 3) return -1;
        break;
    }
  }
  return cprocess_undecided;
}

pid_t cprocess_newest(void) {
  static _Atomic int kept = -1;
  int descriptor = kept;
  if (descriptor < 0) {
    descriptor = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    int none = -1;
    if (!atomic_compare_exchange_strong(&kept, &none, descriptor)) {
      close(descriptor);
      descriptor = none;
    }
  }
  char text[128];
  ssize_t count = pread(descriptor, text, sizeof text - 1, 0);
  if (count <= 0) return -1;
  text[count] = 0;
  // The last field: 0.20 0.18 0.12 1/80 11206
  const char *last = strrchr(text, ' ');
  return last != NULL ? number(&last) : -1;
}
