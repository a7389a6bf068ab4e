#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/// The same descriptor with a number above 2, so that it isn't overwritten while the standard streams are set.
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
  // Only the reader: the flag belongs to the open description, and programs expect a blocking standard output.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  *reader = ends[0];
  *writer = ends[1];
  return 0;
}

int cprocess_null(void) { return above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

/// Closes the descriptor and returns the negative errno of the call before.
static int close_failed(int descriptor) {
  int failure = errno;
  close(descriptor);
  return -failure;
}

int cprocess_open_input(const char *path) {
  // Without waiting for the writer of a FIFO; the program expects a blocking standard input.
  int descriptor = above_standard(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (descriptor < 0) return -errno;
  struct stat status;
  if (fstat(descriptor, &status) != 0 || fcntl(descriptor, F_SETFL, 0) != 0) return close_failed(descriptor);
  if (!S_ISDIR(status.st_mode)) return descriptor;
  errno = EISDIR;
  return close_failed(descriptor);
}

int cprocess_input(const void *bytes, size_t count) {
#ifdef __linux__
  int descriptor = above_standard(memfd_create("input", MFD_CLOEXEC));
  if (descriptor < 0) return -errno;
#else
  char path[] = "/tmp/opdash.XXXXXX";
  int descriptor = above_standard(mkstemp(path));
  if (descriptor < 0) return -errno;
  unlink(path);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#endif
  // The offset stays at the beginning, where the program reads from.
  for (size_t done = 0; done < count;) {
    ssize_t written = pwrite(descriptor, (const char *)bytes + done, count - done, (off_t)done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return close_failed(descriptor);
    done += (size_t)written;
  }
  return descriptor;
}

int cprocess_terminal(uint16_t columns, uint16_t rows, int *controller, int *terminal) {
  int ends[2];
#ifdef __linux__
  ends[0] = above_standard(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
#else
  ends[0] = above_standard(posix_openpt(O_RDWR | O_NOCTTY));
#endif
  if (ends[0] < 0) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  if (grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0) return -close_failed(ends[0]);
#ifdef __linux__
  // Not by its path, which may lead elsewhere in a container.
  ends[1] = above_standard(ioctl(ends[0], TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
#else
  char path[128];
  int failure = ptsname_r(ends[0], path, sizeof path);
  if (failure != 0) errno = failure;
  ends[1] = failure != 0 ? -1 : above_standard(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
#endif
  if (ends[1] < 0) return -close_failed(ends[0]);
  struct winsize size = {.ws_col = columns, .ws_row = rows};
  struct termios modes;
  bool is_set = ioctl(ends[0], TIOCSWINSZ, &size) == 0 && tcgetattr(ends[1], &modes) == 0;
  if (is_set) {
    modes.c_iflag &= ~(tcflag_t)(IXON | IXOFF | IXANY);
    modes.c_oflag &= ~(tcflag_t)ONLCR;
    modes.c_lflag &= ~(tcflag_t)ECHO;
    is_set = tcsetattr(ends[1], TCSANOW, &modes) == 0;
  }
  // Only this end, as with a pipe.
  if (!is_set || fcntl(ends[0], F_SETFL, O_RDWR | O_NONBLOCK) != 0) {
    int failed = -close_failed(ends[0]);
    close(ends[1]);
    return failed;
  }
  *controller = ends[0];
  *terminal = ends[1];
  return 0;
}

void cprocess_terminal_resize(int controller, uint16_t columns, uint16_t rows) {
  struct winsize size = {.ws_col = columns, .ws_row = rows};
  ioctl(controller, TIOCSWINSZ, &size);
}

void cprocess_terminal_end_input(int controller, int terminal, bool also_keys) {
  struct pollfd input = {.fd = terminal, .events = POLLIN};
  struct termios modes;
  if (poll(&input, 1, 0) != 0 || tcgetattr(terminal, &modes) != 0) return;
  bool is_line = (modes.c_lflag & ICANON) != 0;
  if (!is_line && !also_keys) return;
  unsigned char end = is_line ? modes.c_cc[VEOF] : 4;
  while (write(controller, &end, 1) < 0 && errno == EINTR) {
  }
}
