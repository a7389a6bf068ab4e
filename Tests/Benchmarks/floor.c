// Executes /bin/true so many times, two at a time, with what opdash does for each child: a session of its own, an environment
// with a mark, a pipe for each of its outputs, read to its end, and a pidfd, by which it is reaped.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 2, ENDS = 3 };

extern char **environ;

struct child {
  // The outputs, then the pidfd; -1 once it has ended.
  int ends[ENDS];
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void start(struct child *child, char **environment) {
  int pipes[2][2];
  for (int i = 0; i < 2; i++) {
    if (pipe2(pipes[i], O_CLOEXEC) != 0) fail("pipe2");
    fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
  }
  char *const words[] = {"/bin/true", NULL};
  pid_t pid = vfork();
  if (pid < 0) fail("vfork");
  if (pid == 0) {
    setsid();
    int null = open("/dev/null", O_RDONLY);
    if (null != 0) dup2(null, 0);
    dup2(pipes[0][1], 1);
    dup2(pipes[1][1], 2);
    execve(words[0], words, environment);
    _exit(127);
  }
  for (int i = 0; i < 2; i++) {
    close(pipes[i][1]);
    child->ends[i] = pipes[i][0];
  }
  child->ends[2] = (int)syscall(SYS_pidfd_open, pid, 0);
  if (child->ends[2] < 0) fail("pidfd_open");
}

/// Returns whether that was its end.
static int handle(struct child *child, int end) {
  char buffer[65536];
  if (end < 2) {
    if (read(child->ends[end], buffer, sizeof buffer) != 0) return 0;
  } else {
    siginfo_t info;
    if (waitid((idtype_t)P_PIDFD, (id_t)child->ends[end], &info, WEXITED) != 0) fail("waitid");
    if (info.si_code != CLD_EXITED || info.si_status != 0) exit(1);
  }
  close(child->ends[end]);
  child->ends[end] = -1;
  for (int i = 0; i < ENDS; i++) {
    if (child->ends[i] >= 0) return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  int left = argc == 2 ? atoi(argv[1]) : 0, executing = 0;
  int count = 0;
  while (environ[count] != NULL) count++;
  char **environment = calloc((size_t)count + 2, sizeof *environment);
  memcpy(environment, environ, (size_t)count * sizeof *environment);
  environment[count] = "OPDASH_RUN=benchmark/1";

  struct child children[SLOTS];
  struct pollfd polled[SLOTS * ENDS];
  memset(children, -1, sizeof children);
  for (int i = 0; i < SLOTS && left > 0; i++, left--, executing++) start(&children[i], environment);
  while (executing > 0) {
    for (int i = 0; i < SLOTS * ENDS; i++) polled[i] = (struct pollfd){children[i / ENDS].ends[i % ENDS], POLLIN, 0};
    if (poll(polled, SLOTS * ENDS, -1) < 0) fail("poll");
    for (int i = 0; i < SLOTS * ENDS; i++) {
      struct child *child = &children[i / ENDS];
      if (polled[i].revents == 0 || !handle(child, i % ENDS)) continue;
      executing--;
      if (left > 0) {
        start(child, environment);
        left--;
        executing++;
        // What was polled of the one before says nothing of this one.
        i = (i / ENDS + 1) * ENDS - 1;
      }
    }
  }
  return 0;
}
