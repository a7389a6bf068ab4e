#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
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

#ifdef __linux__

#include <sys/syscall.h>

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

/// Reads /proc/PID/stat into `text`; returns the parenthesis after the process's name, or NULL.
static const char *stat_after_name(pid_t pid, char *text, size_t size) {
  char path[40];
  path_of(path, pid, "/stat");
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  ssize_t count = read_some(descriptor, text, size - 1);
  close(descriptor);
  if (count <= 0) return NULL;
  text[count] = 0;
  // The name itself may contain parentheses.
  return strrchr(text, ')');
}

bool cprocess_look(pid_t pid, struct cprocess_info *info) {
  char text[512];
  const char *rest = stat_after_name(pid, text, sizeof text);
  if (rest == NULL || rest[1] != ' ' || rest[2] == 0) return false;
  char state = rest[2];
  rest += 3;
  info->pid = pid;
  info->parent = number(&rest);
  info->group = number(&rest);
  info->session = number(&rest);
  info->ended = state == 'Z' || state == 'X' || state == 'x';
  info->start_time = 0;
  // The session is field 6, the start time field 22.
  for (int field = 6; *rest != 0 && field < 22; rest++) {
    if (*rest == ' ') field++;
  }
  while (*rest >= '0' && *rest <= '9') info->start_time = info->start_time * 10 + (uint64_t)(*rest++ - '0');
  return true;
}

enum environment {
  /// The process has ended; it may have started another just before.
  environment_gone,
  /// In the middle of an exec: the process has memory, but no environment yet.
  environment_coming,
  environment_there,
};

static enum environment environment_of(pid_t pid) {
  char text[1024];
  const char *at = stat_after_name(pid, text, sizeof text);
  if (at == NULL) return environment_gone;
  if (at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X' || at[2] == 'x')) return environment_gone;
  // Field 23 is vsize, field 51 env_end.
  bool has_memory = false, has_environment = false;
  for (int word = 2; *at != 0; at++) {
    if (*at == ' ') word++;
    if (*at < '1' || *at > '9') continue;
    if (word == 23) has_memory = true;
    if (word == 51) has_environment = true;
  }
  // Without memory it is exiting, or a kernel thread.
  if (!has_memory) return environment_gone;
  return has_environment ? environment_there : environment_coming;
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

#else

#include <stdlib.h>
#include <sys/sysctl.h>

static void fill(struct cprocess_info *info, const struct kinfo_proc *process) {
  info->pid = process->kp_proc.p_pid;
  info->parent = process->kp_eproc.e_ppid;
  info->group = process->kp_eproc.e_pgid;
  info->session = getsid(info->pid);
  info->ended = process->kp_proc.p_stat == SZOMB;
  struct timeval start = process->kp_proc.p_starttime;
  info->start_time = (uint64_t)start.tv_sec * 1000000 + (uint64_t)start.tv_usec;
}

bool cprocess_look(pid_t pid, struct cprocess_info *info) {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, pid};
  struct kinfo_proc process;
  size_t size = sizeof process;
  if (sysctl(name, 4, &process, &size, NULL, 0) != 0 || size == 0) return false;
  fill(info, &process);
  return true;
}

size_t cprocess_list(struct cprocess_info *list, size_t capacity) {
  // Static because the guardian must not allocate; in each process one thread at a time scans.
  static struct kinfo_proc processes[8192];
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_ALL, 0};
  size_t size = sizeof processes;
  if (sysctl(name, 4, processes, &size, NULL, 0) != 0) return 0;
  size_t count = size / sizeof processes[0];
  for (size_t i = 0; i < count && i < capacity; i++) fill(&list[i], &processes[i]);
  return count;
}

int64_t cprocess_launch_number(pid_t pid, const char *cookie) {
  // The arguments and the environment, each string ended by a zero byte.
  static char text[256 * 1024];
  int name[] = {CTL_KERN, KERN_PROCARGS2, pid};
  size_t size = sizeof text;
  if (sysctl(name, 3, text, &size, NULL, 0) != 0) return -1;
  for (size_t at = sizeof(int); at < size;) {
    const char *end = memchr(text + at, 0, size - at);
    if (end == NULL) break;
    size_t length = (size_t)(end - (text + at));
    if (length >= sizeof variable - 1 && memcmp(text + at, variable, sizeof variable - 1) == 0) {
      int64_t found = launch_in(text + at + sizeof variable - 1, end, cookie, strlen(cookie));
      if (found >= 0) return found;
    }
    at += length + 1;
  }
  return -1;
}

pid_t cprocess_newest(void) { return -1; }

#endif
