#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int ends[2] = {-1, -1};

static void note(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  // A full pipe drops the signal: it holds enough of them.
  if (write(ends[1], &byte, 1) < 0) errno = saved;
  errno = saved;
}

static int has_action(int number, void (*action)(int)) {
  struct sigaction now;
  return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == action;
}

int signal_is_default(int number) { return has_action(number, SIG_DFL); }
int signal_is_ignored(int number) { return has_action(number, SIG_IGN); }

int signal_pipe_open(void) {
  if (ends[0] >= 0) return ends[0];
  if (pipe(ends) != 0) return -1;
  for (int end = 0; end < 2; end++) {
    fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    fcntl(ends[end], F_SETFL, O_NONBLOCK);
  }
  return ends[0];
}

enum { signals = 32 };
static struct sigaction before[signals];

int signal_pipe_watch(int number) {
  struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, old;
  sigfillset(&action.sa_mask);
  if (number <= 0 || number >= signals) return EINVAL;
  if (sigaction(number, &action, &old) != 0) return errno;
  if (old.sa_handler != note) before[number] = old;
  return 0;
}

void signal_pipe_unwatch(int number) {
  struct sigaction now;
  if (number <= 0 || number >= signals || sigaction(number, NULL, &now) != 0) return;
  // A handler installed since is kept.
  if (now.sa_handler == note) sigaction(number, &before[number], NULL);
}
