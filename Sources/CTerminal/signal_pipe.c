#define _GNU_SOURCE
#include "CProcess.h"
#include "CTerminal.h"
#include "thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static int ends[2] = {-1, -1};

// If memory or threads run out, dispatch blocks, and no handler can answer a signal. So a thread that
// needs neither ends the program.
static int watched[2] = {-1, -1};
static atomic_uint asked, answered;
/// In tenths of a second.
static int patience;

enum { signals = 32 };
/// Which signals are watched, and how many.
static atomic_bool is_watched[signals];
static atomic_int watching;
/// How often each signal came directly, and from the process in front.
static atomic_uint received[2][signals];

/// Whether the signal is the same one again: who sends it to the process group reaches this process twice.
static bool is_repeated(int number, const siginfo_t *info) {
  // The kernel sends the signal of a key to both, and the process in front does not pass it on.
  if (terminal_front() == 0 || info->si_code == SI_KERNEL) return false;
  bool is_passed_on = info->si_code <= 0 && info->si_pid == terminal_front();
  unsigned count = atomic_fetch_add(&received[is_passed_on][number], 1) + 1;
  return count <= atomic_load(&received[!is_passed_on][number]);
}

static void note(int number, siginfo_t *info, void *context) {
  (void)context;
  int saved = errno;
  if (is_repeated(number, info)) return;
  unsigned char byte = (unsigned char)number;
  bool ends_run = number == SIGINT || number == SIGTERM || number == SIGHUP;
  // Before it can be answered.
  if (ends_run) atomic_fetch_add(&asked, 1);
  // A full pipe drops the signal: it holds enough of them.
  ssize_t count = write(ends[1], &byte, 1);
  if (ends_run) count = write(watched[1], &byte, 1);
  (void)count;
  errno = saved;
}

void signal_pipe_answer(void) { atomic_store(&answered, atomic_load(&asked)); }

_Noreturn void terminal_end_by_signal(int number) {
  struct sigaction plain = {.sa_handler = SIG_DFL};
  terminal_guard_restore();
  sigaction(number, &plain, NULL);
  cprocess_raise(number);
  _exit(128 + number);
}

static void *watch_answers(void *none) {
  (void)none;
  const struct timespec part = {.tv_nsec = 100000000};
  unsigned char number = 0;
  struct pollfd more = {.fd = watched[0], .events = POLLIN};
  for (;;) {
    if (number == 0 || poll(&more, 1, patience * 100) > 0) {
      if (read(watched[0], &number, 1) != 1) continue;
    } else if (atomic_load(&watching) == 0) {
      number = 0;
      continue;
    } else {
      // Dispatch may block later, before the run has ended, so it is asked again.
      const unsigned char question = 0;
      atomic_fetch_add(&asked, 1);
      if (write(ends[1], &question, 1) != 1) continue;
    }
    unsigned before = atomic_load(&answered);
    // In parts: a program that was stopped gets the rest of its time when it continues.
    for (int i = 0; i < patience && atomic_load(&answered) != atomic_load(&asked); i++) nanosleep(&part, NULL);
    if (atomic_load(&answered) != before || before == atomic_load(&asked) || atomic_load(&watching) == 0) continue;
    terminal_guard_restore();
    // An earlier handler may end the processes of the program.
    signal_pipe_unwatch(number);
    cprocess_raise(number);
    _exit(128 + number);
  }
}

static int has_action(int number, void (*action)(int)) {
  struct sigaction now;
  return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == action;
}

int signal_is_default(int number) { return has_action(number, SIG_DFL); }
int signal_is_ignored(int number) { return has_action(number, SIG_IGN); }

int signal_pipe_open(int tenths) {
  if (ends[0] >= 0) return ends[0];
  patience = tenths;
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  // Without the thread the program may have to be killed.
  if (pipe2(watched, O_CLOEXEC) == 0) {
    fcntl(watched[1], F_SETFL, O_NONBLOCK);
    start_thread(watch_answers);
  }
  return ends[0];
}

static struct sigaction before[signals];

int signal_pipe_watch(int number) {
  struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_RESTART | SA_SIGINFO}, old;
  sigfillset(&action.sa_mask);
  if (number <= 0 || number >= signals) return EINVAL;
  if (sigaction(number, &action, &old) != 0) return errno;
  if (old.sa_sigaction != note) before[number] = old;
  if (!atomic_exchange(&is_watched[number], true)) atomic_fetch_add(&watching, 1);
  return 0;
}

void signal_pipe_unwatch(int number) {
  struct sigaction now;
  if (number <= 0 || number >= signals || sigaction(number, NULL, &now) != 0) return;
  if (atomic_exchange(&is_watched[number], false)) atomic_fetch_sub(&watching, 1);
  // A handler installed since is kept.
  if (now.sa_sigaction == note) sigaction(number, &before[number], NULL);
}
