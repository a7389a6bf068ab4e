#define _GNU_SOURCE
#include "CProcess.h"
#include "launching.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#else
#include <fcntl.h>
#include <spawn.h>
#endif

// The limit that children get back.
static struct rlimit original_limit;
static bool limit_was_raised = false;

void cprocess_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (limit_was_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  original_limit = limit;
  limit.rlim_cur = limit.rlim_max;
#ifdef __APPLE__
  // The kernel's own limit, which may be below the hard one.
  if (limit.rlim_cur > 10240) limit.rlim_cur = 10240;
#endif
  limit_was_raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static bool drops_child_signals = false;

void cprocess_drop_child_signals(void) { drops_child_signals = true; }

bool cprocess_adopt_orphans(void) {
#ifdef __linux__
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
#else
  return false;
#endif
}

#ifdef __linux__

// Not posix_spawn: it gives no pidfd before glibc 2.39, and each child gets and sets all signal handlers.
//
// The child shares this process's memory, and the thread that starts it is suspended until the child's program begins.
// Until then the child makes system calls only: it changes the thread's errno and its own `struct start`, nothing else.

static struct cprocess_launching unshared;
static struct cprocess_launching *_Atomic launching = &unshared;

void cprocess_keep_launching(struct cprocess_launching *shared) { launching = shared; }

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
  if (result >= 0 && launch->has_terminal) result = syscall(SYS_ioctl, 1, TIOCSCTTY, 0);
  if (result >= 0 && launch->directory != NULL) result = syscall(SYS_chdir, launch->directory);
  if (result >= 0) {
    // A kernel without it leaves open what other code has opened without O_CLOEXEC.
    syscall(SYS_close_range, 3, ~0U, 0);
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

#else

int cprocess_spawn(const struct cprocess_launch *launch, struct cprocess_child *child) {
  cprocess_hold_if_ending();
  child->descriptor = -1;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int failure = posix_spawn_file_actions_init(&actions);
  if (failure != 0) return failure;
  failure = posix_spawnattr_init(&attributes);
  if (failure != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return failure;
  }
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT);

  // The first terminal that the leader of a new session opens becomes its controlling one.
  const char *terminal = launch->has_terminal ? ttyname(launch->output) : NULL;
  if (terminal != NULL) failure = posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0);
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, launch->input, 0);
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, launch->output, 1);
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, launch->error, 2);
  if (failure == 0 && launch->directory != NULL) {
    failure = posix_spawn_file_actions_addchdir_np(&actions, launch->directory);
  }
  if (failure == 0) {
    failure = posix_spawn(&child->pid, launch->path, &actions, &attributes, launch->arguments, launch->environment);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

void cprocess_keep_launching(struct cprocess_launching *shared) { (void)shared; }
void cprocess_launched(const struct cprocess_child *child) { (void)child; }
bool cprocess_is_launching(pid_t pid) { return pid < 0; }

#endif

enum cprocess_end cprocess_peek(pid_t pid, int *code) {
  siginfo_t info = {0};
  int result;
  do {
    result = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return cprocess_unknown;
  if (info.si_pid == 0) return cprocess_alive;
  *code = info.si_status;
  return info.si_code == CLD_EXITED ? cprocess_exited : cprocess_signalled;
}

void cprocess_reap(pid_t pid) {
  while (waitpid(pid, NULL, WNOHANG) < 0 && errno == EINTR) {
  }
}

pid_t cprocess_ended_child(void) {
  siginfo_t info = {0};
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid;
}

bool cprocess_stop(pid_t pid, int *signal) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WCONTINUED | WNOHANG) != 0 || info.si_pid == 0) return false;
  *signal = info.si_code == CLD_CONTINUED ? 0 : info.si_status;
  return true;
}

bool cprocess_signal_started(pid_t pid, uint64_t start_time, int signal) {
  struct cprocess_info info;
#ifdef __linux__
  int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
  if (descriptor < 0) return false;
  // The signal goes to the process that the descriptor was opened for, so the time is read after the opening.
  bool sent = cprocess_look(pid, &info) && info.start_time == start_time &&
              syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0) == 0;
  close(descriptor);
  return sent;
#else
  return cprocess_look(pid, &info) && info.start_time == start_time && kill(pid, signal) == 0;
#endif
}

bool cprocess_signal(pid_t pid, pid_t session, int signal) {
#ifdef __linux__
  int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
  if (descriptor < 0) return false;
  // As above, for the session.
  struct cprocess_info info;
  bool sent = cprocess_look(pid, &info) && info.session == session &&
              syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0) == 0;
  close(descriptor);
  return sent;
#else
  return getsid(pid) == session && kill(pid, signal) == 0;
#endif
}

extern char **environ;

char **cprocess_environment(void) { return environ; }
