#define _GNU_SOURCE
#include "CProcess.h"
#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The process in front of the program. The shell waits for it: when it ends, the shell gets the terminal back, even if the
// program continues.

static pid_t front = 0;
/// Its stream ends with the process in front.
static int lifeline = -1;
/// Whether the process in front stops because the program has stopped. Both see it: a SIGCONT that comes just before a SIGSTOP
/// is lost, and the process in front would stay stopped while the program runs.
static atomic_bool *is_stopping = NULL;

/// Ends as the program has ended.
static _Noreturn void end_as(int status) {
  if (WIFSIGNALED(status)) {
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t one;
    // The program has written its core, if any.
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    sigaction(WTERMSIG(status), &plain, NULL);
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}

/// Stops by the signal that the program has stopped by, which the shell may name; returns when it continues.
static void stop_as(int number) {
  sigset_t one, mask;
  sigemptyset(&one);
  sigaddset(&one, number);
  // While it is blocked: together with one that is pending already, it stops once.
  kill(getpid(), number);
  sigprocmask(SIG_UNBLOCK, &one, &mask);
  sigprocmask(SIG_SETMASK, &mask, NULL);
}

/// Passes signals on to the program, stops with it, and ends with it or when it leaves.
static _Noreturn void stand_in_front(pid_t program, const sigset_t *signals) {
  for (;;) {
    siginfo_t info;
    int number = sigwaitinfo(signals, &info);
    if (number == SIGCHLD) {
      int status;
      // Before the question: of a program that has been continued by then the system says nothing.
      atomic_store(is_stopping, true);
      pid_t changed = waitpid(program, &status, WNOHANG | WUNTRACED);
      if (changed == program && !WIFSTOPPED(status)) end_as(status);
      if (changed == program) stop_as(WSTOPSIG(status));
      atomic_store(is_stopping, false);
    } else if (number == SIGUSR2 && info.si_pid == program) {
      _exit(0);
    } else if (number > 0 && info.si_code != SI_KERNEL && info.si_pid != program) {
      // A signal from the terminal, or from the program to its group, reaches both. This process stops after the program, which
      // restores the screen first.
      kill(program, number);
    }
  }
}

/// Continues the process in front where this one was continued alone.
static void pass_back(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)context;
  int saved = errno;
  if (front != 0 && info->si_pid != front) {
    // Again until it has stopped and continued.
    while (kill(front, SIGCONT) == 0 && atomic_load(is_stopping)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  errno = saved;
}

int terminal_front_begin(void) {
  const int left[] = {SIGTTIN, SIGTTOU, SIGWINCH, SIGURG};
  sigset_t signals, mask;
  sigfillset(&signals);
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) sigdelset(&signals, left[i]);
  int ends[2];
  // A SIGCHLD that is ignored would take the status of the program with it.
  if (signal_is_ignored(SIGCHLD)) return errno = EINVAL, -1;
  is_stopping = mmap(NULL, sizeof *is_stopping, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (is_stopping == MAP_FAILED) return -1;
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  // From before the fork, so that none is lost in between.
  sigprocmask(SIG_BLOCK, &signals, &mask);
  pid_t self = getpid(), program = fork();
  if (program > 0) {
    close(ends[0]);
    stand_in_front(program, &signals);
  }
  int failure = errno;
  sigprocmask(SIG_SETMASK, &mask, NULL);
  close(ends[1]);
  if (program < 0) {
    close(ends[0]);
    return errno = failure, -1;
  }
  front = self;
  lifeline = ends[0];
  // As if the program had been killed itself. PR_SET_PDEATHSIG belongs to a thread, which alone could undo it.
  fcntl(lifeline, F_SETOWN, getpid());
  fcntl(lifeline, F_SETSIG, SIGKILL);
  fcntl(lifeline, F_SETFL, O_ASYNC);
  const struct sigaction continued = {.sa_sigaction = pass_back, .sa_flags = SA_RESTART | SA_SIGINFO};
  sigaction(SIGCONT, &continued, NULL);
  if (getppid() != self) raise(SIGKILL);
  return 0;
}

pid_t terminal_front(void) { return front; }

bool terminal_front_leave(void) {
  if (front == 0) return false;
  // A starting job may still hold a copy, and the kernel sends the signal until the last copy is closed.
  fcntl(lifeline, F_SETFL, 0);
  close(lifeline);
  lifeline = -1;
  signal_pipe_unwatch(SIGHUP);
  signal(SIGHUP, SIG_IGN);
  setsid();
  cprocess_guardian_leave_terminal();
  kill(front, SIGUSR2);
  front = 0;
  return true;
}
