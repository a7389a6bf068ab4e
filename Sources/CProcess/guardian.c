#define _GNU_SOURCE
#include "CProcess.h"
#include "launching.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The guardian is a fork without exec, so that it needs no program file and works in every program that links this library.
// Another thread may have held any lock at the fork, so it uses no malloc, no stdio and no Swift.

struct table {
  _Atomic pid_t guardian;
  /// Whether the guardian has left everything of the program.
  _Atomic bool is_guarding;
  _Atomic size_t used;
  _Atomic pid_t groups[cprocess_guardian_capacity];
  /// The children before their program has begun: their environment has no cookie, and they may be stopped.
  struct cprocess_launching launching;
};

static struct table *table = NULL;

void cprocess_guardian_set(size_t slot, pid_t group, bool is_remote) {
  if (table == NULL || slot >= cprocess_guardian_capacity) return;
  size_t used = atomic_load_explicit(&table->used, memory_order_relaxed);
  while (used <= slot && !atomic_compare_exchange_weak(&table->used, &used, slot + 1)) {
  }
  // The sign tells the two kinds apart, in one store.
  atomic_store_explicit(&table->groups[slot], is_remote ? -group : group, memory_order_release);
}

// The pids and sessions to kill: a hash set with open addressing and without removal.
enum { set_capacity = 1 << 18 };
static pid_t set[set_capacity];
static size_t set_count = 0;

static bool set_has(pid_t value) {
  for (size_t at = (uint32_t)value * 2654435761u % set_capacity; set[at] != 0; at = (at + 1) % set_capacity) {
    if (set[at] == value) return true;
  }
  return false;
}

static void set_add(pid_t value) {
  if (value <= 1 || set_count > set_capacity / 2 || set_has(value)) return;
  size_t at = (uint32_t)value * 2654435761u % set_capacity;
  while (set[at] != 0) at = (at + 1) % set_capacity;
  set[at] = value;
  set_count++;
}

static void pause_for(long milliseconds) {
  struct timespec time = {.tv_nsec = milliseconds * 1000000};
  nanosleep(&time, NULL);
}

/// The session of the program while it ends by a signal, and 0 in the guardian.
///
/// The program has adopted orphans, which neither a session nor a cookie identifies; once a program has ended, another
/// process adopts its orphans.
static pid_t adopter_session = 0;

/// Kills the processes of the run. Returns whether one was alive; whether one may have been is in `is_doubtful`.
static bool kill_all(const char *cookie, pid_t self, bool *is_doubtful) {
  static struct cprocess_info list[1 << 16];
  size_t count = cprocess_list(list, sizeof list / sizeof list[0]);
  if (count > sizeof list / sizeof list[0]) count = sizeof list / sizeof list[0];
  bool is_alive = false;
  bool first = true;
  *is_doubtful = false;
  for (bool grew = true; grew; first = false) {
    grew = false;
    for (size_t i = 0; i < count; i++) {
      struct cprocess_info *info = &list[i];
      // Session 0 is the kernel's own.
      if (info->pid == 0 || info->pid == self || info->ended || info->session == 0) continue;
      if (adopter_session != 0 && info->pid == atomic_load(&table->guardian)) continue;
      bool ours = set_has(info->pid) || set_has(info->session) || set_has(info->group) || (info->parent > 1 && set_has(info->parent));
      // A child older than every job is the program's own.
      bool is_adopted = adopter_session != 0 && info->parent == self && info->session != adopter_session;
      if (is_adopted && info->start_time >= cprocess_first_launch()) ours = true;
      if (!ours && first) {
        int64_t number = cprocess_launch_number(info->pid, cookie);
        ours = number >= 0;
        if (number == cprocess_undecided) *is_doubtful = true;
      }
      if (!ours) continue;
      set_add(info->pid);
      if (kill(info->pid, SIGKILL) == 0) is_alive = true;
      info->pid = 0;
      grew = true;
    }
  }
  return is_alive;
}

/// Kills the processes of the run until none is left.
static void kill_until_quiet(const char *cookie) {
  // A child before its exec has the environment of its parent, without the cookie, so one quiet scan is not enough.
  struct cprocess_silence silence = {0};
  for (int round = 0; round < 1000; round++) {
    bool is_doubtful;
    bool is_alive = kill_all(cookie, getpid(), &is_doubtful);
    if (cprocess_is_silent(&silence, 4, is_alive, is_doubtful)) return;
    pause_for(is_alive ? 2 : 15);
  }
}

/// Whether a child has ever begun to execute its program, or is to begin.
static bool has_launched(void) {
  for (size_t slot = 0; slot < cprocess_launching_capacity; slot++) {
    if (atomic_load_explicit(&table->launching.pids[slot], memory_order_acquire) != 0) return true;
  }
  return atomic_load(&table->used) > 0;
}

static void end_run(const char *cookie) {
  for (size_t slot = 0; slot < cprocess_launching_capacity; slot++) {
    set_add(atomic_load_explicit(&table->launching.pids[slot], memory_order_acquire));
  }
  size_t used = atomic_load(&table->used);
  bool has_remote = false;
  for (size_t slot = 0; slot < used; slot++) {
    pid_t group = atomic_load_explicit(&table->groups[slot], memory_order_acquire);
    if (group < -1 && kill(group, SIGTERM) == 0) {
      kill(group, SIGCONT);
      has_remote = true;
    }
    if (group <= 1) continue;
    kill(-group, SIGKILL);
    set_add(group);
  }
  kill_until_quiet(cookie);
  if (!has_remote) return;
  for (int round = 0; round < 200 && has_remote; round++) {
    has_remote = false;
    for (size_t slot = 0; slot < used; slot++) {
      pid_t group = atomic_load_explicit(&table->groups[slot], memory_order_acquire);
      if (group < -1 && kill(group, 0) == 0) has_remote = true;
    }
    pause_for(10);
  }
  for (size_t slot = 0; slot < used; slot++) {
    pid_t group = atomic_load_explicit(&table->groups[slot], memory_order_acquire);
    if (group >= -1) continue;
    kill(group, SIGKILL);
    set_add(-group);
  }
  kill_until_quiet(cookie);
}

static char run_cookie[128];
static void (*at_end)(void) = NULL;

/// Continues a program whose terminal has hung up, again and again for two seconds.
///
/// The kernel continues a stopped program whose shell ends, but misses one of several threads that is just being stopped.
/// No shell could continue that.
static void continue_program(int program) {
  struct pollfd end = {.fd = program, .events = POLLIN};
  for (int left = 10; left > 0; left--) {
    syscall(SYS_pidfd_send_signal, program, SIGCONT, NULL, 0);
    if (poll(&end, 1, 200) > 0) return;
  }
}

/// Returns when the program has ended, and closes the terminal then or when the program has left it.
static void wait_for_end(int lifeline, int program, int terminal) {
  // A child that is stopped before its exec keeps the lifeline open. The terminal is polled for a hang-up only.
  struct pollfd ends[3] = {{.fd = lifeline, .events = POLLIN}, {.fd = program, .events = POLLIN}, {.fd = terminal}};
  bool has_ended = lifeline < 0 && program < 0;
  while (!has_ended) {
    if (poll(ends, 3, -1) <= 0) continue;
    char byte;
    // See `cprocess_guardian_leave_terminal`.
    bool has_left = ends[0].revents != 0 && read(lifeline, &byte, 1) == 1;
    has_ended = ends[1].revents != 0 || (ends[0].revents != 0 && !has_left);
    if (ends[2].revents != 0 && !has_ended && !has_left) continue_program(program);
    if (ends[2].revents != 0 || has_left) ends[2].fd = -1;
    if (has_left) close(terminal);
  }
  close(terminal);
}

static _Noreturn void guard(int lifeline, int program) {
  setsid();
  if (chdir("/") != 0) {
    // Then the guardian keeps the current directory busy, with no other effect.
  }
  // The lifeline becomes descriptor 3, the program's pidfd 4, its terminal 5, and all others are closed: a reader of the
  // program's output waits for the last writer.
  int kept[] = {lifeline, program, -1};
  for (int standard = 2; standard >= 0; standard--) {
    if (isatty(standard)) kept[2] = standard;
  }
  for (int i = 0; i < 3; i++) {
    if (kept[i] >= 0) kept[i] = fcntl(kept[i], F_DUPFD, 8);
  }
  for (int i = 0; i < 3; i++) {
    if (kept[i] < 0) close(3 + i);
    else kept[i] = dup2(kept[i], 3 + i);
  }
  int null = open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; standard++) dup2(null, standard);
  close_range(6, ~0U, 0);
  // A `pkill` of the program by its name does not find the guardian; its arguments stay the program's.
  prctl(PR_SET_NAME, "job-guardian");
  atomic_store(&table->is_guarding, true);
  wait_for_end(kept[0], kept[1], kept[2]);
  // First, before the shell has shown its prompt.
  if (at_end != NULL) at_end();
  // A child that has not executed yet is not in the table, and has the program's environment: nothing tells whose it is. It
  // keeps the lifeline open until it is in the table.
  struct pollfd launches = {.fd = 3, .events = POLLIN};
  bool is_launching = kept[0] == 3 && poll(&launches, 1, 0) == 0;
  if (is_launching || has_launched()) end_run(run_cookie);
  if (is_launching) {
    poll(&launches, 1, 5000);
    end_run(run_cookie);
  }
  _exit(0);
}

/// The program's end of the guardian's lifeline.
static int own_end = -1;
/// Held while `own_end` is replaced or written to. The guardian does not use it.
static pthread_mutex_t own_end_lock = PTHREAD_MUTEX_INITIALIZER;

/// Starts a guardian; returns the program's end of its lifeline, or a negative errno.
///
/// Each side learns of the other's end by the end of the stream.
static int launch_guardian(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  int self = cprocess_open(getpid());
  atomic_store(&table->guardian, 0);
  atomic_store(&table->is_guarding, false);

  // The guardian handles no signals, and a handler of the program must not be called in its fork.
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  // Forks twice, so that a supervisor that kills the program's process tree does not kill the guardian. A later one is
  // adopted by the program: to stop adopting for a moment would let orphans of jobs go.
  pid_t middle = fork();
  int failure = errno;
  if (middle == 0) {
    pid_t guardian = fork();
    if (guardian == 0) {
      close(ends[1]);
      guard(ends[0], self);
    }
    // Before the program adopts it, which must not take it for a process of a job.
    if (guardian > 0) atomic_store(&table->guardian, guardian);
    _exit(0);
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  close(ends[0]);
  if (self >= 0) close(self);
  while (middle > 0 && waitpid(middle, NULL, 0) < 0 && errno == EINTR) {
  }
  if (middle > 0) return own_end = ends[1];
  close(ends[1]);
  return -failure;
}

int cprocess_guardian_start(const char *cookie, void (*body)(void)) {
  if (table != NULL) return -EALREADY;
  if (strlen(cookie) >= sizeof run_cookie) return -EINVAL;
  void *shared = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return -errno;
  table = shared;
  cprocess_keep_launching(&table->launching);
  strcpy(run_cookie, cookie);
  at_end = body;
  int failure = launch_guardian();
  if (failure < 0) {
    // A child may be launching, so the mapping stays.
    table = NULL;
    return failure;
  }
  // The guardian needs about a millisecond.
  for (int i = 0; i < 1000 && !atomic_load(&table->is_guarding); i++) pause_for(1);
  return own_end;
}

int cprocess_guardian_replace(void) {
  pthread_mutex_lock(&own_end_lock);
  close(own_end);
  own_end = -1;
  // The old guardian is exiting, and only this process can reap it. The first one is a child of another process.
  pid_t guardian = atomic_load(&table->guardian);
  for (int i = 0; i < 1000 && guardian > 0 && waitpid(guardian, NULL, WNOHANG) == 0; i++) pause_for(1);
  int result = launch_guardian();
  pthread_mutex_unlock(&own_end_lock);
  return result;
}

void cprocess_guardian_leave_terminal(void) {
  const char byte = 0;
  pthread_mutex_lock(&own_end_lock);
  send(own_end, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  pthread_mutex_unlock(&own_end_lock);
}

bool cprocess_guardian_release(void) {
  siginfo_t info;
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD) return false;
  if (table != NULL) atomic_store(&table->used, 0);
  return true;
}

pid_t cprocess_guardian(void) { return table != NULL ? atomic_load(&table->guardian) : 0; }

// The end by a signal

static pid_t program = 0;
static _Atomic bool is_ending = false;

void cprocess_hold_if_ending(void) {
  while (atomic_load(&is_ending)) pause_for(100);
}

bool cprocess_is_fatal(int signal) {
  switch (signal) {
    case SIGKILL: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU:
    case SIGCONT: case SIGCHLD: case SIGURG: case SIGWINCH:
      return false;
    // The C library uses the signals in between itself.
    default: return signal < 32 || signal >= SIGRTMIN;
  }
}

void cprocess_raise(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
  raise(signal);
}

static void end_by_signal(int number) {
  const struct sigaction ignored = {.sa_handler = SIG_IGN}, plain = {.sa_handler = SIG_DFL};
  // A fork of the program has no processes.
  if (getpid() == program && table != NULL) {
    sigaction(number, &ignored, NULL);
    if (!atomic_exchange(&is_ending, true)) {
      int adopts = 0;
      if (prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts) adopter_session = getsid(0);
      if (has_launched()) end_run(run_cookie);
    } else {
      // Another thread is at it.
      for (int i = 0; i < 50; i++) pause_for(100);
    }
  }
  sigaction(number, &plain, NULL);
  cprocess_raise(number);
}

void cprocess_end_by_signals(void) {
  program = getpid();
  // Called once: then the default action is next. Whoever has a terminal to restore installs its handler over such a one.
  struct sigaction ours = {.sa_handler = end_by_signal, .sa_flags = SA_ONSTACK | SA_RESETHAND}, now;
  // Nothing else comes in between on this thread, and a fault in the handler ends the program.
  sigfillset(&ours.sa_mask);
  for (int number = 1; number < NSIG; number++) {
    if (!cprocess_is_fatal(number) || sigaction(number, NULL, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) continue;
    sigaction(number, &ours, NULL);
  }
}
