#define _GNU_SOURCE
#include "CTerminal.h"
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// `output_capture_abandon` executes in signal handlers: async-signal-safe calls only, no locks, no allocation.

enum {
  piece = 1 << 16,
  /// More than a pipe holds: a child that writes without end must not keep the end of a capture waiting.
  drained_at_most = 1 << 20,
  /// Milliseconds that the reader thread may keep the state; it keeps it for longer only when it has crashed.
  hold_patience = 500,
  /// Milliseconds that a terminal may take for a piece where the process must end.
  fatal_patience = 300,
};

enum mode { passing, capturing, ending };

// The pipe, its thread and the terminal stay until the process ends: children may still write to the pipe.
static struct {
  int ends[2];
  int terminal;
  char path[128];
  /// Unlinked; holds output that the terminal has not shown yet. -1 before the first capture.
  int file;
  pid_t owner;
  /// Standard output and error before the pipe replaced them; -1 for a stream that was not replaced.
  int before[3];
  output_capture_receiver receive;
  _Atomic enum mode mode;
  /// Whether the reader thread or the end of the capture uses the state below.
  _Atomic bool is_held;
  /// Offsets in the file, and the bytes that it did not take.
  _Atomic long long stored, shown, lost;
} capture = {.ends = {-1, -1}, .terminal = -1, .file = -1, .before = {-1, -1, -1}};

static bool hold(int patience) {
  const struct timespec millisecond = {.tv_nsec = 1000000};
  for (bool none = false; !atomic_compare_exchange_weak(&capture.is_held, &none, true); none = false) {
    if (patience-- <= 0) return false;
    nanosleep(&millisecond, NULL);
  }
  return true;
}

static void release(bool is_ours) {
  if (is_ours) atomic_store(&capture.is_held, false);
}

static void store(const char *bytes, size_t length) {
  while (length > 0) {
    long long end = atomic_load(&capture.stored);
    ssize_t wrote = pwrite(capture.file, bytes, length, (off_t)end);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      atomic_fetch_add(&capture.lost, (long long)length);
      return;
    }
    atomic_store(&capture.stored, end + wrote);
    bytes += wrote;
    length -= (size_t)wrote;
  }
}

static void *read_output(void *none) {
  (void)none;
  static char bytes[piece];
  for (;;) {
    struct pollfd ready = {.fd = capture.ends[0], .events = POLLIN};
    if (poll(&ready, 1, -1) <= 0) continue;
    if (!hold(hold_patience)) continue;
    ssize_t count = read(capture.ends[0], bytes, sizeof bytes);
    bool passes = atomic_load(&capture.mode) == passing;
    if (count > 0 && !passes) {
      store(bytes, (size_t)count);
      capture.receive(bytes, (size_t)count);
    }
    release(true);
    // The terminal may take its time.
    if (count > 0 && passes) terminal_write(capture.terminal, bytes, (size_t)count, -1);
  }
  return NULL;
}

static int open_pipe(void) {
  if (capture.ends[0] >= 0) return 0;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  memcpy(capture.ends, ends, sizeof ends);
  int failure = start_thread(read_output);
  if (failure != 0) {
    capture.ends[0] = capture.ends[1] = -1;
    for (int end = 0; end < 2; end++) close(ends[end]);
  }
  return failure;
}

static int open_file(const char *folder) {
  char path[1024];
  if (capture.file >= 0) return 0;
  if (snprintf(path, sizeof path, "%s/opdash-output-XXXXXX", folder) >= (int)sizeof path) return ENAMETOOLONG;
  capture.file = mkostemp(path, O_CLOEXEC);
  if (capture.file < 0) return errno;
  unlink(path);
  return 0;
}

static bool is_same_terminal(int one, int other) {
  struct stat first, second;
  return fstat(one, &first) == 0 && fstat(other, &second) == 0 && S_ISCHR(first.st_mode) && S_ISCHR(second.st_mode) &&
         first.st_rdev == second.st_rdev;
}

void output_keep_lines_whole(void) {
  // In this order: another thread that prints between the two calls would leave a part of a line in the buffer.
  setvbuf(stdout, NULL, _IOLBF, 0);
  fflush(stdout);
}

int output_capture_terminal(int terminal) {
  if (capture.terminal >= 0 && is_same_terminal(capture.terminal, terminal)) return capture.terminal;
  int own = fcntl(terminal, F_DUPFD_CLOEXEC, 10);
  if (own < 0) return -1;
  // The reader thread may be writing to the old one, which is left open then.
  capture.terminal = own;
  if (ttyname_r(own, capture.path, sizeof capture.path) != 0) capture.path[0] = 0;
  return own;
}

int output_capture_begin(const char *folder, output_capture_receiver receive) {
  if (capture.terminal < 0 || atomic_load(&capture.mode) != passing) return EINVAL;
  int failure = open_file(folder);
  if (failure == 0) failure = open_pipe();
  if (failure != 0) return failure;
  fflush(stdout);
  // A stream that has not been used yet would take the pipe for a reason to keep lines back.
  if (__fbufsize(stdout) == 0) setvbuf(stdout, NULL, _IOLBF, 0);
  bool is_ours = hold(hold_patience);
  capture.owner = getpid();
  capture.receive = receive;
  atomic_store(&capture.mode, capturing);
  release(is_ours);
  for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
    if (!is_same_terminal(stream, capture.terminal)) continue;
    // Above the streams: a program that closes one of them expects the next file in its place.
    capture.before[stream] = fcntl(stream, F_DUPFD_CLOEXEC, 10);
    if (capture.before[stream] >= 0) dup2(capture.ends[1], stream);
  }
  return 0;
}

size_t output_capture_peek(char *bytes, size_t length) {
  if (atomic_load(&capture.mode) != capturing) return 0;
  long long from = atomic_load(&capture.shown), left = atomic_load(&capture.stored) - from;
  ssize_t count = pread(capture.file, bytes, left < (long long)length ? (size_t)left : length, (off_t)from);
  return count < 0 ? 0 : (size_t)count;
}

void output_capture_shown(size_t length) { atomic_fetch_add(&capture.shown, (long long)length); }

/// Writes the output that the terminal has not shown yet; false if it takes no more.
static bool replay(int fd, int patience) {
  char bytes[4096];
  for (;;) {
    long long from = atomic_load(&capture.shown), left = atomic_load(&capture.stored) - from;
    if (left <= 0) break;
    size_t length = left < (long long)sizeof bytes ? (size_t)left : sizeof bytes;
    ssize_t count = pread(capture.file, bytes, length, (off_t)from);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || terminal_write(fd, bytes, (size_t)count, patience) != 0) return false;
    atomic_store(&capture.shown, from + count);
  }
  return true;
}

/// Replaces lost bytes by a message.
static void tell_lost(int fd, int patience) {
  long long lost = atomic_exchange(&capture.lost, 0);
  if (lost == 0) return;
  char text[96] = "opdash: bytes of the program's output that no temporary file could hold: ", digits[24];
  size_t end = strlen(text), length = 0;
  for (; lost > 0; lost /= 10) digits[length++] = (char)('0' + lost % 10);
  while (length > 0 && end < sizeof text - 1) text[end++] = digits[--length];
  text[end++] = '\n';
  terminal_write(fd, text, end, patience);
}

/// Writes the rest of the pipe and passes it to the receiver.
static void drain(int fd, int patience, bool is_written, bool is_received) {
  char bytes[4096];
  for (size_t total = 0; total < drained_at_most;) {
    ssize_t count = read(capture.ends[0], bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    total += (size_t)count;
    if (is_received) capture.receive(bytes, (size_t)count);
    if (is_written && terminal_write(fd, bytes, (size_t)count, patience) != 0) is_written = false;
  }
}

static void finish(int fd, int patience) {
  bool is_ours = hold(hold_patience);
  for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
    if (capture.before[stream] < 0) continue;
    dup2(capture.before[stream], stream);
    close(capture.before[stream]);
    capture.before[stream] = -1;
  }
  bool is_read = replay(fd, patience);
  if (is_read) tell_lost(fd, patience);
  // The receiver allocates memory, which a signal handler must not.
  drain(fd, patience, is_read, patience < 0);
  atomic_store(&capture.stored, 0);
  atomic_store(&capture.shown, 0);
  atomic_store(&capture.lost, 0);
  if (ftruncate(capture.file, 0) != 0) {
    close(capture.file);
    capture.file = -1;
  }
  atomic_store(&capture.mode, passing);
  release(is_ours);
}

/// Whether the caller is to end the capture: there is one, of this process.
static bool may_finish(void) {
  // A fork before exec has the streams too, but neither the reader thread nor the screen.
  if (capture.owner != getpid()) return false;
  enum mode before = capturing;
  return atomic_compare_exchange_strong(&capture.mode, &before, ending);
}

void output_capture_end(void) {
  fflush(stdout);
  if (may_finish()) finish(capture.terminal, -1);
}

void output_capture_abandon(void) {
  if (!may_finish()) return;
  int saved = errno;
  // A terminal whose output is not read must not keep the process from ending.
  int fd = open(capture.path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  finish(fd < 0 ? capture.terminal : fd, fatal_patience);
  if (fd >= 0) close(fd);
  errno = saved;
}

void output_wake_writers(void) {
  terminal_wake_writers(STDOUT_FILENO);
  terminal_wake_writers(STDERR_FILENO);
  if (capture.terminal >= 0) terminal_wake_writers(capture.terminal);
}
