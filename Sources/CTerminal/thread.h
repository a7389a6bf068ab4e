#pragma once

#include <pthread.h>
#include <signal.h>

/// Starts a thread that handles no signals and needs little memory. Returns 0 or an errno.
static inline int start_thread(void *(*body)(void *)) {
  sigset_t all, mask;
  pthread_attr_t attributes;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  int failure = pthread_create(&thread, &attributes, body, NULL);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return failure;
}
