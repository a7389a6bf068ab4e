#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Everything except arming executes in signal handlers: async-signal-safe calls only, no locks, no allocation.

enum { capacity = 2048 };

struct restoration {
  int fd;
  pid_t owner;
  struct termios shell;
  size_t length;
  char bytes[capacity];
};

// Arming fills the inactive one, then activates it, so that a handler never sees a partial one.
static struct restoration kept[2];
static _Atomic(struct restoration *) armed = NULL;

static const int guarded[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS,
                              SIGQUIT, SIGHUP, SIGINT, SIGTERM};
enum { guarded_count = sizeof guarded / sizeof guarded[0] };
static struct sigaction before[guarded_count];

static bool is_fault(int number) {
  return number != SIGQUIT && number != SIGHUP && number != SIGINT && number != SIGTERM;
}

int terminal_write(int fd, const void *bytes, size_t length, int patience) {
  while (length > 0) {
    ssize_t wrote = write(fd, bytes, length);
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (wrote >= 0) {
      bytes = (const char *)bytes + wrote;
      length -= (size_t)wrote;
    } else if (errno != EINTR && (errno != EAGAIN || poll(&ready, 1, patience) == 0)) {
      return errno;
    }
  }
  return 0;
}

void terminal_guard_restore(void) {
  struct restoration *now = atomic_exchange(&armed, NULL);
  // A fork before exec has a copy of this state but doesn't own the screen.
  if (now == NULL || now->owner != getpid()) return;
  int saved = errno;
  // In the background the shell has restored the terminal already.
  pid_t foreground = tcgetpgrp(now->fd);
  if (foreground <= 0 || foreground == getpgrp()) {
    sigset_t output, old;
    sigemptyset(&output);
    sigaddset(&output, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &output, &old);
    terminal_write(now->fd, now->bytes, now->length, 0);
    // TCSANOW: draining could block forever on a terminal that nobody reads.
    tcsetattr(now->fd, TCSANOW, &now->shell);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
  }
  errno = saved;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  terminal_guard_restore();
  struct sigaction next = {.sa_handler = SIG_DFL};
  for (int i = 0; i < guarded_count; i++) {
    if (guarded[i] == number) next = before[i];
  }
  // An earlier handler, of a crash reporter, gets the fault with its context.
  if (next.sa_flags & SA_SIGINFO) {
    next.sa_sigaction(number, info, context);
  } else if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) {
    next.sa_handler(number);
  }
  // Then the default action, so that the exit status names the signal.
  struct sigaction plain = {.sa_handler = SIG_DFL};
  sigaction(number, &plain, NULL);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, number);
  pthread_sigmask(SIG_UNBLOCK, &own, NULL);
  raise(number);
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
  for (int i = 0; i < guarded_count; i++) {
    if (sigaction(guarded[i], NULL, &before[i]) != 0) continue;
    bool plain = !(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_DFL;
    bool ignored = !(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_IGN;
    // Ignored signals stay ignored, and the program's own handlers stay installed.
    if (ignored || (!plain && !is_fault(guarded[i]) && guarded[i] != SIGQUIT)) continue;
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    ours.sa_sigaction = on_signal;
    sigemptyset(&ours.sa_mask);
    sigaction(guarded[i], &ours, NULL);
  }
}

int terminal_guard_arm(int fd, const struct termios *shell, const char *bytes, size_t length) {
  if (length > capacity) return EINVAL;
  struct restoration *next = atomic_load(&armed) == &kept[0] ? &kept[1] : &kept[0];
  next->fd = fd;
  next->owner = getpid();
  next->shell = *shell;
  next->length = length;
  memcpy(next->bytes, bytes, length);
  install();
  atomic_store(&armed, next);
  return 0;
}

void terminal_guard_disarm(void) { atomic_store(&armed, NULL); }

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

void terminal_get_size(int fd, int *columns, int *rows) {
  struct winsize size;
  bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  *columns = known ? size.ws_col : 80;
  *rows = known ? size.ws_row : 24;
}
