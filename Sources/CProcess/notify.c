#define _GNU_SOURCE
#include "CProcess.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int cprocess_notify_open(char name[32]) {
  int end = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (end < 0) return -1;
  int on = 1;
  // Without a path, the system chooses a name that no other socket has.
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  socklen_t length = sizeof address;
  if (setsockopt(end, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
      bind(end, (struct sockaddr *)&address, sizeof(sa_family_t)) == 0 &&
      getsockname(end, (struct sockaddr *)&address, &length) == 0) {
    int count = (int)(length - offsetof(struct sockaddr_un, sun_path)) - 1;
    if (count > 0 && count < 31) {
      snprintf(name, 32, "@%.*s", count, address.sun_path + 1);
      return end;
    }
    errno = EINVAL;
  }
  int problem = errno;
  close(end);
  errno = problem;
  return -1;
}

ssize_t cprocess_notify_take(int socket, char *message, size_t capacity) {
  struct iovec part = {message, capacity};
  // Descriptors that a sender passes, as with FDSTORE=1, have no room here, so that the system closes them.
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
  } control;
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t length = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) return -1;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&header); item != NULL; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_CREDENTIALS) continue;
    struct ucred sender;
    memcpy(&sender, CMSG_DATA(item), sizeof sender);
    if (sender.uid == geteuid()) return length;
  }
  return 0;
}
