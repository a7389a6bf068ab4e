#define _GNU_SOURCE
#include "CProcess.h"
#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Everything except arming executes in signal handlers or in the guardian: async-signal-safe calls only, no locks, no
// allocation.

enum { capacity = 2048, path_capacity = 128 };

struct restoration {
  int fd;
  pid_t owner, group, session;
  dev_t device;
  char path[path_capacity];
  struct termios shell;
  size_t length;
  char bytes[capacity];
};

// Arming fills the inactive one, then activates it, so that a handler never sees a partial one.
struct guard {
  struct restoration kept[2];
  _Atomic(struct restoration *) armed;
  /// The restoration in progress; the guardian completes one that a killed process began.
  _Atomic(struct restoration *) begun;
};
static struct guard own;
static struct guard *guard = &own;

static struct sigaction before[NSIG];

/// Whether this thread restores the terminal: a signal may come while it does.
static _Thread_local volatile sig_atomic_t is_restoring = 0;

static bool is_fault(int number) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    if (faults[i] == number) return true;
  }
  return false;
}

static int64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * (int64_t)1000 + now.tv_nsec / 1000000;
}

/// Who may change the terminal: `changing` while a thread is between `terminal_change_begin` and `terminal_change_end`,
/// `closed` once the process ends.
enum { idle, changing, closed };
static _Atomic int access_state = idle;
/// How many changes this thread is within.
static _Thread_local volatile sig_atomic_t depth = 0;
/// Whether this thread has restored the terminal, and may write what remains to be said.
static _Thread_local volatile sig_atomic_t is_ending = 0;

/// Keeps a thread whose change was not waited for from going on with it: the process ends.
static void await_end_if_closed(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  while (depth > 0 && !is_ending && atomic_load(&access_state) == closed) nanosleep(&pause, NULL);
}

int terminal_write(int fd, const void *bytes, size_t length, int patience) {
  int64_t end = patience < 0 ? 0 : milliseconds_now() + patience;
  while (length > 0) {
    await_end_if_closed();
    ssize_t wrote = write(fd, bytes, length);
    if (wrote >= 0) {
      bytes = (const char *)bytes + wrote;
      length -= (size_t)wrote;
    } else if (errno == EAGAIN) {
      struct pollfd ready = {.fd = fd, .events = POLLOUT};
      int64_t left = patience < 0 ? -1 : end - milliseconds_now();
      if (patience >= 0 && left <= 0) return EAGAIN;
      poll(&ready, 1, (int)left);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// Wakes the writers that wait for room: the end of a flow stop does.
static void wake_writers(int fd) {
  tcflow(fd, TCOOFF);
  tcflow(fd, TCOON);
}

/// Discards the unread output, and wakes the writers that wait for room.
static void make_room(int fd) {
  tcflush(fd, TCOFLUSH);
  wake_writers(fd);
}

/// Sets the modes if `sets_modes`, and writes as many bytes as the terminal takes without waiting.
///
/// `fd` is non-blocking; `shared` is the program's own descriptor, -1 in another process.
static void put_back(const struct restoration *now, int fd, int shared, bool sets_modes) {
  // How long a terminal that is read may take for a bufferful, and how long the bytes are tried on one that is not.
  enum { patience = 100, attempts = 10, attempt = 20 };
  static const char cancel = 0x18;
  sigset_t output, old;
  sigemptyset(&output);
  sigaddset(&output, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &output, &old);
  // TCSANOW: draining an unread terminal could block forever.
  if (sets_modes) tcsetattr(fd, TCSANOW, &now->shell);
  if (terminal_write(fd, now->bytes, now->length, patience) != 0) {
    // A thread that waits in `write` keeps all others from writing: it must not wait.
    int flags = shared < 0 ? -1 : fcntl(shared, F_GETFL);
    if (flags >= 0) fcntl(shared, F_SETFL, flags | O_NONBLOCK);
    for (int left = attempts; left > 0; left--) {
      make_room(fd);
      // An interrupted write may have ended in the middle of a sequence.
      if (terminal_write(fd, &cancel, 1, attempt) == 0 &&
          terminal_write(fd, now->bytes, now->length, attempt) == 0) {
        break;
      }
    }
    if (flags >= 0) fcntl(shared, F_SETFL, flags);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/// Opens the terminal anew: the program's own descriptor may block, and its flags are shared with other programs.
static int open_terminal(const struct restoration *now) {
  int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  struct stat file;
  int fd = open(now->path, flags);
  if (fd >= 0 && (fstat(fd, &file) != 0 || file.st_rdev != now->device)) {
    close(fd);
    fd = -1;
  }
  return fd;
}

/// The restoration if this process has armed it.
static struct restoration *owned(void) {
  struct restoration *now = atomic_load(&guard->armed);
  // A fork before exec knows this state but doesn't own the screen.
  return now != NULL && now->owner == getpid() ? now : NULL;
}

/// Waits half a second at most for the thread that restores the terminal: the process must not end meanwhile.
static void await_restoration(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  for (int left = 500; left > 0 && !is_restoring; left--) {
    struct restoration *begun = atomic_load(&guard->begun);
    if (begun == NULL || begun->owner != getpid()) return;
    nanosleep(&pause, NULL);
  }
}

static void restore_terminal(void) {
  struct restoration *now = owned();
  if (now == NULL || !atomic_compare_exchange_strong(&guard->armed, &now, NULL)) return await_restoration();
  atomic_store(&guard->begun, now);
  is_restoring = 1;
  int saved = errno;
  // In the background the shell has restored the terminal already.
  pid_t foreground = tcgetpgrp(now->fd);
  if (foreground <= 0 || foreground == getpgrp()) {
    int fd = open_terminal(now);
    // Another user's terminal can be opened as the controlling one only.
    if (fd < 0 && foreground > 0) fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
      put_back(now, fd, now->fd, true);
      close(fd);
    } else {
      tcsetattr(now->fd, TCSANOW, &now->shell);
    }
  }
  atomic_store(&guard->begun, NULL);
  is_restoring = 0;
  errno = saved;
}

static bool move_access(int from, int to) { return atomic_compare_exchange_strong(&access_state, &from, to); }

void terminal_change_begin(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  if (depth++ > 0) return;
  // A process that has restored the terminal is about to end: other callers wait for its end.
  while (!move_access(idle, changing)) nanosleep(&pause, NULL);
}

void terminal_change_end(void) {
  if (--depth == 0) move_access(changing, idle);
}

/// Keeps other threads from changing the terminal from now on; waits 0.1 s at most for one that does.
static void close_access(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  // This thread makes its change only if the process continues.
  is_ending = 1;
  if (depth > 0) return;
  for (int left = 100; left > 0 && !move_access(idle, closed); left--) {
    if (atomic_load(&access_state) == closed) return;
    nanosleep(&pause, NULL);
  }
  atomic_store(&access_state, closed);
}

void terminal_guard_restore(void) {
  if (owned() != NULL) close_access();
  restore_terminal();
  output_capture_abandon();
}

/// Whether output was discarded that may have ended a mode.
static _Atomic bool discarded = false;

/// Whether a terminal, which no other program has, takes no output for so many milliseconds.
static bool is_full(int fd, int patience) {
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  return isatty(fd) && !terminal_is_taken(fd) && poll(&ready, 1, patience) == 0;
}

void terminal_wake_writers(int fd) {
  if (is_full(fd, 0)) wake_writers(fd);
}

bool terminal_discard(int fd) {
  if (!is_full(fd, 2)) return false;
  make_room(fd);
  return true;
}

bool terminal_guard_discard(void) {
  struct restoration *now = owned();
  if (now == NULL || !is_full(now->fd, 2)) return false;
  atomic_store(&discarded, true);
  make_room(now->fd);
  // Meanwhile the terminal may have been restored, and the bytes that did it been discarded.
  struct restoration *none = NULL;
  if (atomic_compare_exchange_strong(&guard->armed, &none, now)) restore_terminal();
  return true;
}

bool terminal_guard_is_full(void) {
  struct restoration *now = owned();
  return now != NULL && is_full(now->fd, 0);
}

void terminal_guard_restore_killed(void) {
  struct restoration *now = atomic_exchange(&guard->armed, NULL);
  if (now == NULL) now = atomic_load(&guard->begun);
  if (now == NULL) return;
  // The shell that has the terminal back has set its own modes, but the screen is still the program's.
  pid_t foreground = cprocess_foreground(now->session);
  bool is_gone = foreground <= 0 || (kill(-foreground, 0) != 0 && errno == ESRCH);
  bool has_modes = is_gone || foreground == now->group;
  if (!has_modes && foreground != now->session) return;
  int fd = open_terminal(now);
  if (fd < 0) return;
  put_back(now, fd, -1, has_modes);
  close(fd);
}

void terminal_guard_share(void) {
  if (guard != &own) return;
  void *shared = mmap(NULL, sizeof(struct guard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) guard = shared;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  terminal_guard_restore();
  struct sigaction next = before[number];
  // An earlier handler, of a crash reporter, gets the fault with its context.
  if (next.sa_flags & SA_SIGINFO) {
    next.sa_sigaction(number, info, context);
  } else if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) {
    next.sa_handler(number);
  }
  // Then the default action, so that the exit status names the signal.
  struct sigaction plain = {.sa_handler = SIG_DFL};
  sigaction(number, &plain, NULL);
  cprocess_raise(number);
}

void terminal_guard_thread(void) {
  static _Thread_local bool has_one = false;
  // One stack is enough: only one thread serves the UI at a time.
  static char stack[64 * 1024];
  if (has_one) return;
  has_one = true;
  stack_t old;
  if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE)) {
    stack_t ours = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&ours, NULL);
  }
}

static void install(void) {
  static bool installed = false;
  if (installed) return;
  installed = true;
  terminal_guard_thread();
  atexit(terminal_guard_restore);
  for (int number = 1; number < NSIG; number++) {
    if (!cprocess_is_fatal(number) || sigaction(number, NULL, &before[number]) != 0) continue;
    bool plain = !(before[number].sa_flags & SA_SIGINFO) && before[number].sa_handler == SIG_DFL;
    bool ignored = !(before[number].sa_flags & SA_SIGINFO) && before[number].sa_handler == SIG_IGN;
    // After a handler that is called once comes the default action, and with it the end.
    bool is_last = (before[number].sa_flags & SA_RESETHAND) != 0;
    // Ignored signals stay ignored, and the program's own handlers stay installed.
    if (ignored || (!plain && !is_last && !is_fault(number) && number != SIGQUIT)) continue;
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    ours.sa_sigaction = on_signal;
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, NULL);
  }
}

int terminal_guard_arm(int fd, const struct termios *shell, const char *bytes, size_t length) {
  struct stat file;
  if (length > capacity) return EINVAL;
  struct restoration *next = atomic_load(&guard->armed) == &guard->kept[0] ? &guard->kept[1] : &guard->kept[0];
  next->fd = fd;
  next->owner = getpid();
  next->group = getpgrp();
  next->session = getsid(0);
  next->device = fstat(fd, &file) == 0 ? file.st_rdev : 0;
  if (ttyname_r(fd, next->path, sizeof next->path) != 0) next->path[0] = 0;
  next->shell = *shell;
  next->length = length;
  memcpy(next->bytes, bytes, length);
  install();
  atomic_store(&guard->armed, next);
  return 0;
}

void terminal_guard_disarm(void) {
  if (atomic_exchange(&discarded, false)) restore_terminal();
  atomic_store(&guard->armed, NULL);
}

void terminal_stop_group(void) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, plain = {.sa_handler = SIG_DFL}, program;
  sigset_t stop, mask;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  // First the others of the group while this process ignores the signal, which also discards a pending ^Z. Then this
  // thread, so that the process has stopped and continued when raise returns.
  sigaction(SIGTSTP, &ignore, &program);
  pthread_sigmask(SIG_UNBLOCK, &stop, &mask);
  kill(0, SIGTSTP);
  sigaction(SIGTSTP, &plain, NULL);
  raise(SIGTSTP);
  sigaction(SIGTSTP, &program, NULL);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

bool terminal_is_taken(int fd) {
  pid_t foreground = tcgetpgrp(fd);
  return foreground > 0 && foreground != getpgrp();
}

void terminal_get_size(int fd, int *columns, int *rows) {
  struct winsize size;
  bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  *columns = known ? size.ws_col : 80;
  *rows = known ? size.ws_row : 24;
}
