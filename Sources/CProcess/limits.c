#define _GNU_SOURCE
#include "CProcess.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

// Both try it out: a limit may be the user's, a control group's or the system's, and others use it up too.

enum { most = 64 };

int cprocess_free_descriptors(int wanted) {
  int opened[most], count = 0;
  int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (first < 0) return 0;
  opened[count++] = first;
  while (count < wanted && count < most && (opened[count] = fcntl(first, F_DUPFD_CLOEXEC, 0)) >= 0) count++;
  for (int i = 0; i < count; i++) close(opened[i]);
  return count;
}

static void *wait_for(void *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return NULL;
}

int cprocess_free_threads(int wanted) {
  pthread_t threads[most];
  int count = 0;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  // The stacks are as large as libdispatch's: memory may be limited too.
  while (count < wanted && count < most && pthread_create(&threads[count], NULL, wait_for, &mutex) == 0) count++;
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  return count;
}

bool cprocess_memory_is_limited(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}
