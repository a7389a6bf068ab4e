#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#else
#include <spawn.h>
#endif

#include "launching.h"

struct rlimit cprocess_original_limit;
bool cprocess_limit_was_raised = false;

void cprocess_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (cprocess_limit_was_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  cprocess_original_limit = limit;
  limit.rlim_cur = limit.rlim_max;
#ifdef __APPLE__
  // The kernel refuses more than this, whatever the hard limit says.
  if (limit.rlim_cur > 10240) limit.rlim_cur = 10240;
#endif
  cprocess_limit_was_raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool cprocess_drops_child_signals = false;

void cprocess_drop_child_signals(void) { cprocess_drops_child_signals = true; }

bool cprocess_adopt_orphans(void) {
#ifdef __linux__
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
#else
  return false;
#endif
}

/// The same descriptor with a number that doesn't stand for a standard stream, where it would be in its own way.
static int above_standard(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  int failure = errno;
  close(descriptor);
  errno = failure;
  return moved;
}

int cprocess_pipe(int *reader, int *writer) {
  int ends[2];
#ifdef __linux__
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
#else
  if (pipe(ends) != 0) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
  for (int end = 0; end < 2; end++) {
    ends[end] = above_standard(ends[end]);
    if (ends[end] >= 0) continue;
    int failure = errno;
    close(ends[1 - end]);
    return failure;
  }
  // Only our end: the flag belongs to the open description, and programs expect a blocking standard output.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  *reader = ends[0];
  *writer = ends[1];
  return 0;
}

int cprocess_null(void) { return above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

#ifndef __linux__

int cprocess_spawn(const struct cprocess_launch *launch, struct cprocess_child *spawned) {
  spawned->descriptor = -1;
  spawned->nursery = NULL;
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

  failure = posix_spawn_file_actions_adddup2(&actions, launch->input, 0);
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, launch->output, 1);
  if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, launch->error, 2);
  if (failure == 0 && launch->directory != NULL) {
    failure = posix_spawn_file_actions_addchdir_np(&actions, launch->directory);
  }
  if (failure == 0) {
    failure =
        posix_spawn(&spawned->pid, launch->path, &actions, &attributes, launch->arguments, launch->environment);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

bool cprocess_is_launching(pid_t pid) {
  (void)pid;
  return false;
}

void cprocess_launched(const struct cprocess_child *child) { (void)child; }
void cprocess_await_program(const struct cprocess_child *child) { (void)child; }

int cprocess_failure(const struct cprocess_child *child) {
  (void)child;
  return 0;
}

#endif

static enum cprocess_end end_of(const siginfo_t *info, int *code) {
  if (info->si_pid == 0) return cprocess_alive;
  *code = info->si_status;
  return info->si_code == CLD_EXITED ? cprocess_exited : cprocess_signalled;
}

enum cprocess_end cprocess_peek(pid_t pid, int *code) {
  siginfo_t info = {0};
  int result;
  do {
    result = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? end_of(&info, code) : cprocess_unknown;
}

void cprocess_reap(pid_t pid) {
  int status;
  while (waitpid(pid, &status, WNOHANG) < 0 && errno == EINTR) {
  }
}

void cprocess_wait(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

pid_t cprocess_ended_child(void) {
  siginfo_t info = {0};
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid;
}

bool cprocess_signal(pid_t pid, pid_t session, int signal) {
#ifdef __linux__
  int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
  if (descriptor < 0) return false;
  // The descriptor holds on to the process, so what is read after it was opened is true of what gets the signal.
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
