#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int ends[2] = {-1, -1};

static void note(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  // A full pipe holds more signals than anybody meant.
  if (write(ends[1], &byte, 1) < 0) errno = saved;
  errno = saved;
}

int signal_pipe_open(void) {
  if (ends[0] >= 0) return ends[0];
  if (pipe(ends) != 0) return -1;
  for (int end = 0; end < 2; end++) {
    fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    fcntl(ends[end], F_SETFL, O_NONBLOCK);
  }
  return ends[0];
}

int signal_pipe_watch(int number) {
  struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0 ? 0 : errno;
}
