#define _GNU_SOURCE
#include "CProcess.h"
#include "launching.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The limit that children get back.
static struct rlimit original_limit;
static bool limit_was_raised = false;

void cprocess_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (limit_was_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  original_limit = limit;
  limit.rlim_cur = limit.rlim_max;
  limit_was_raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool cprocess_return_blocks(int size) { return mallopt(M_MMAP_THRESHOLD, size) == 1; }

/// Has the kernel keep the statuses of ended children until they are waited for; handlers stay.
static void keep_statuses(void) {
  struct sigaction action;
  if (sigaction(SIGCHLD, NULL, &action) != 0) return;
  bool is_ignored = !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
  if (!is_ignored && !(action.sa_flags & SA_NOCLDWAIT)) return;
  if (is_ignored) action.sa_handler = SIG_DFL;
  action.sa_flags &= ~SA_NOCLDWAIT;
  sigaction(SIGCHLD, &action, NULL);
}

static bool drops_child_signals = false;

void cprocess_drop_child_signals(void) {
  keep_statuses();
  drops_child_signals = true;
}

bool cprocess_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

// Not posix_spawn: it gives no pidfd before glibc 2.39, and each child gets and sets all signal handlers.
//
// The child shares this process's memory, and the thread that starts it is suspended until the child's program begins.
// Until then the child makes system calls only: it changes the thread's errno and its own `struct start`, nothing else.

static struct cprocess_launching unshared;
static struct cprocess_launching *_Atomic launching = &unshared;

void cprocess_keep_launching(struct cprocess_launching *shared) { launching = shared; }

static _Atomic uint64_t first_launch = 0;

uint64_t cprocess_first_launch(void) { return first_launch; }

struct start {
  const struct cprocess_launch *launch;
  _Atomic pid_t *slot;
  /// The errno of the child; 0 if its program has begun.
  int failure;
};

// The sanitizers' instrumentation would change this thread's state from the child; `no_sanitize` leaves part of it.
#if defined(__has_attribute) && __has_attribute(disable_sanitizer_instrumentation)
#define uninstrumented __attribute__((disable_sanitizer_instrumentation))
#else
#define uninstrumented
#endif

// `syscall` because the sanitizers intercept the named functions.
static uninstrumented int begin(void *argument) {
  struct start *start = argument;
  const struct cprocess_launch *launch = start->launch;
  if (start->slot != NULL) atomic_store_explicit(start->slot, (pid_t)syscall(SYS_getpid), memory_order_release);
  syscall(SYS_setsid);
  // All signals are blocked until their handlers are reset: a handler would run in this process's memory.
  static const struct {
    void *handler;
    unsigned long flags, restorer, mask;
  } action;
  for (int signal = 1; signal <= 64; signal++) {
    if (signal != SIGKILL && signal != SIGSTOP) syscall(SYS_rt_sigaction, signal, &action, NULL, 8);
  }
  long result = syscall(SYS_dup3, launch->input, 0, 0);
  if (result >= 0) result = syscall(SYS_dup3, launch->output, 1, 0);
  if (result >= 0) result = syscall(SYS_dup3, launch->error, 2, 0);
  if (result >= 0 && launch->third > 4) result = syscall(SYS_dup3, launch->third, 3, 0);
  if (result >= 0 && launch->fourth > 4) result = syscall(SYS_dup3, launch->fourth, 4, 0);
  if (result >= 0 && launch->has_terminal) result = syscall(SYS_ioctl, 1, TIOCSCTTY, 0);
  if (result >= 0 && launch->directory != NULL) result = syscall(SYS_chdir, launch->directory);
  if (result >= 0) {
    // A kernel without it leaves open what other code has opened without O_CLOEXEC.
    syscall(SYS_close_range, launch->fourth > 4 ? 5 : 3, ~0U, 0);
    if (limit_was_raised) syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &original_limit, NULL);
    uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
    syscall(SYS_execve, launch->path, launch->arguments, launch->environment);
  }
  start->failure = errno;
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

#ifdef __GLIBC__
// The thread sanitizer intercepts `clone` and takes it for a fork, which would give the child a memory of its own.
extern int __clone(int (*body)(void *), void *stack, int flags, void *argument, ...);
#else
#define __clone clone
#endif

int cprocess_spawn(const struct cprocess_launch *launch, struct cprocess_child *child) {
  cprocess_hold_if_ending();
  keep_statuses();
  if (first_launch == 0) {
    uint64_t none = 0;
    atomic_compare_exchange_strong(&first_launch, &none, cprocess_ticks());
  }
  struct start start = {.launch = launch};
  struct cprocess_launching *table = launching;
  _Alignas(16) char stack[16 << 10];
  for (int slot = 0; slot < cprocess_launching_capacity && start.slot == NULL; slot++) {
    pid_t none = 0;
    if (atomic_compare_exchange_strong(&table->pids[slot], &none, -1)) start.slot = &table->pids[slot];
  }
  *child = (struct cprocess_child){.descriptor = -1, .slot = start.slot};

  uint64_t all = ~(uint64_t)0, before, child_signal = (uint64_t)1 << (SIGCHLD - 1);
  // The kernel sends SIGCHLD to the thread that made the child. Where that thread blocks it, as dispatch's threads do, it
  // wakes another thread for nothing; otherwise it is dropped at once, because its default action is to ignore it.
  if (drops_child_signals) all &= ~child_signal;
  // Not pthread_sigmask, which leaves two signals of the C library unblocked.
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
  if (drops_child_signals) before &= ~child_signal;
  child->pid = __clone(
      begin, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &start, &child->descriptor);
  if (child->pid < 0) start.failure = errno;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
  if (start.failure == 0) return 0;
  if (child->pid > 0) {
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    if (child->descriptor >= 0) close(child->descriptor);
  }
  cprocess_launched(child);
  return start.failure;
}

void cprocess_launched(const struct cprocess_child *child) {
  if (child->slot != NULL) atomic_store_explicit((_Atomic pid_t *)child->slot, 0, memory_order_release);
}

bool cprocess_is_launching(pid_t pid) {
  struct cprocess_launching *table = launching;
  for (int slot = 0; slot < cprocess_launching_capacity; slot++) {
    if (atomic_load_explicit(&table->pids[slot], memory_order_acquire) == pid) return true;
  }
  return false;
}

int cprocess_open(pid_t pid) {
  // A pidfd always has O_CLOEXEC.
  return (int)syscall(SYS_pidfd_open, pid, 0);
}

/// Sends a signal to a process of this session, or of this start time.
static bool send(pid_t pid, const pid_t *session, const uint64_t *start_time, int signal) {
  int descriptor = cprocess_open(pid);
  if (descriptor < 0) return false;
  // The signal goes to the process that the descriptor was opened for, so the facts are read after the opening.
  struct cprocess_info info;
  bool sent = cprocess_look(pid, &info) && (session == NULL || info.session == *session) &&
              (start_time == NULL || info.start_time == *start_time) &&
              syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0) == 0;
  close(descriptor);
  return sent;
}

bool cprocess_signal(pid_t pid, pid_t session, int signal) { return send(pid, &session, NULL, signal); }

bool cprocess_signal_started(pid_t pid, uint64_t start_time, int signal) { return send(pid, NULL, &start_time, signal); }

extern char **environ;

char **cprocess_environment(void) { return environ; }
