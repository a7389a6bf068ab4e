#define _GNU_SOURCE
#include "CProcess.h"
#include "launching.h"

#include <errno.h>
#include <unistd.h>

#ifdef __linux__

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

int cprocess_poller_create(void) {
  int poller = epoll_create1(EPOLL_CLOEXEC);
  return poller < 0 ? -errno : poller;
}

static int watch(int poller, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : errno;
}

int cprocess_open(pid_t pid, int *descriptor) {
  // A pidfd always has O_CLOEXEC.
  *descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
  return *descriptor < 0 ? errno : 0;
}

int cprocess_poller_watch_process(int poller, pid_t pid, int descriptor, uint64_t token) {
  (void)pid;
  return watch(poller, descriptor, EPOLLIN | EPOLLONESHOT, token);
}

int cprocess_poller_watch_reader(int poller, int descriptor, uint64_t token) {
  return watch(poller, descriptor, EPOLLIN | EPOLLET, token);
}

int cprocess_poller_watch_terminal(int poller, int controller, uint64_t token) {
  return watch(poller, controller, EPOLLIN | EPOLLOUT | EPOLLET, token);
}

int cprocess_poller_make_waker(int poller, uint64_t token) {
  int waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (waker < 0) return -errno;
  int failure = watch(poller, waker, EPOLLIN | EPOLLET, token);
  if (failure == 0) return waker;
  close(waker);
  return -failure;
}

void cprocess_poller_wake(int waker) {
  uint64_t one = 1;
  while (write(waker, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

int cprocess_poller_wait(int poller, uint64_t *tokens, int capacity, int64_t milliseconds) {
  struct epoll_event events[64];
  if (capacity > 64) capacity = 64;
  if (milliseconds > 3600000) milliseconds = 3600000;
  int count = epoll_wait(poller, events, capacity, milliseconds < 0 ? -1 : (int)milliseconds);
  cprocess_hold_if_ending();
  if (count < 0) return 0;
  for (int i = 0; i < count; i++) tokens[i] = events[i].data.u64;
  return count;
}

#else

#include <sys/event.h>

int cprocess_poller_create(void) {
  int poller = kqueue();
  return poller < 0 ? -errno : poller;
}

int cprocess_open(pid_t pid, int *descriptor) {
  (void)pid;
  *descriptor = -1;
  return 0;
}

int cprocess_poller_watch_process(int poller, pid_t pid, int descriptor, uint64_t token) {
  (void)descriptor;
  struct kevent change;
  EV_SET(&change, pid, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, (void *)(uintptr_t)token);
  return kevent(poller, &change, 1, NULL, 0, NULL) == 0 ? 0 : errno;
}

int cprocess_poller_watch_reader(int poller, int descriptor, uint64_t token) {
  struct kevent change;
  EV_SET(&change, descriptor, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, (void *)(uintptr_t)token);
  return kevent(poller, &change, 1, NULL, 0, NULL) == 0 ? 0 : errno;
}

int cprocess_poller_watch_terminal(int poller, int controller, uint64_t token) {
  return cprocess_poller_watch_reader(poller, controller, token);
}

int cprocess_poller_make_waker(int poller, uint64_t token) {
  struct kevent change;
  EV_SET(&change, 1, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0, (void *)(uintptr_t)token);
  return kevent(poller, &change, 1, NULL, 0, NULL) == 0 ? poller : -errno;
}

void cprocess_poller_wake(int waker) {
  struct kevent change;
  EV_SET(&change, 1, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
  kevent(waker, &change, 1, NULL, 0, NULL);
}

int cprocess_poller_wait(int poller, uint64_t *tokens, int capacity, int64_t milliseconds) {
  struct kevent events[64];
  if (capacity > 64) capacity = 64;
  struct timespec limit = {.tv_sec = milliseconds / 1000, .tv_nsec = (milliseconds % 1000) * 1000000};
  int count = kevent(poller, NULL, 0, events, capacity, milliseconds < 0 ? NULL : &limit);
  cprocess_hold_if_ending();
  if (count < 0) return 0;
  for (int i = 0; i < count; i++) tokens[i] = (uint64_t)(uintptr_t)events[i].udata;
  return count;
}

#endif
