#ifdef __linux__

#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "CProcess.h"
#include "launching.h"

// Not posix_spawn: it asks for 64 signals' handlers twice and for the descriptor limit six times, maps a stack for each
// child, gives neither a pidfd nor the child's number before its program has begun, and holds its caller for that long.
//
// A child here borrows our memory until its program begins, while we go on: two children that end together are followed by
// two that begin together, and one whose program lies on a disk that hangs holds nobody up.

/// Where a child lives until its program begins: what it must know, its stack, and the strings that it hands over. It is
/// never freed.
struct nursery {
  struct nursery *next;
  size_t size;
  /// Not 0 while a child is here, or about to be; the kernel clears it, and wakes who waits, when
  /// the child leaves our memory.
  _Atomic int tenant;
  /// Whose it is: the number of the child that was last put here, -1 before it is known.
  _Atomic pid_t owner;
  /// Set until the failure of the owner's launch was asked for, if there is one.
  _Atomic int failure;
  struct cprocess_launch launch;
  _Alignas(16) char stack[16 << 10];
  /// The strings and the tables of them.
  char text[];
};

enum { ordinary_size = 64 << 10 };

static pthread_mutex_t nurseries_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nursery *nurseries;

static bool is_free(const struct nursery *nursery) {
  return atomic_load_explicit(&nursery->tenant, memory_order_acquire) == 0 &&
         atomic_load_explicit(&nursery->failure, memory_order_acquire) == 0;
}

/// One for so many bytes of text, which nobody else uses until its tenant has left; NULL without memory.
///
/// They are kept: there are as many as there ever were children on their way at once, and callers may still look at them.
static struct nursery *claim(size_t text_size) {
  size_t size = sizeof(struct nursery) + text_size;
  struct nursery *found = NULL;
  pthread_mutex_lock(&nurseries_lock);
  for (struct nursery *nursery = nurseries; nursery != NULL && found == NULL; nursery = nursery->next) {
    if (nursery->size >= size && is_free(nursery)) found = nursery;
  }
  if (found == NULL) {
    if (size < ordinary_size) size = ordinary_size;
    found = malloc(size);
    if (found != NULL) {
      found->size = size;
      found->next = nurseries;
      nurseries = found;
    }
  }
  if (found != NULL) {
    atomic_store_explicit(&found->owner, -1, memory_order_relaxed);
    atomic_store_explicit(&found->failure, 0, memory_order_relaxed);
    atomic_store_explicit(&found->tenant, -1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&nurseries_lock);
  return found;
}

static size_t size_of(char *const *words) {
  size_t size = 16;
  for (; *words != NULL; words++) size += sizeof *words + strlen(*words) + 1;
  return size;
}

static char *copy(char **at, const char *word) {
  char *start = *at;
  size_t length = strlen(word) + 1;
  memcpy(start, word, length);
  *at += length;
  return start;
}

static char *const *copy_table(char **at, char *const *words) {
  size_t count = 0;
  while (words[count] != NULL) count++;
  *at = (char *)(((uintptr_t)*at + 7) & ~(uintptr_t)7);
  char **table = (char **)*at;
  *at += (count + 1) * sizeof *table;
  for (size_t i = 0; i < count; i++) table[i] = copy(at, words[i]);
  table[count] = NULL;
  return table;
}

// Not `no_sanitize`, which leaves a function's entry and its atomics to the sanitizer: the child would change what it knows
// of our thread while that goes on.
#if defined(__has_attribute) && __has_attribute(disable_sanitizer_instrumentation)
#define uninstrumented __attribute__((disable_sanitizer_instrumentation))
#else
#define uninstrumented
#endif

// The child shares our thread's storage, so it must not touch errno, as the library's functions do.
#if defined(__x86_64__)
enum { goes_on = 0 };
static inline __attribute__((always_inline)) uninstrumented long raw(long number, long a, long b, long c, long d) {
  long result;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
enum { goes_on = 0 };
static inline __attribute__((always_inline)) uninstrumented long raw(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#else
// Elsewhere our thread is held until the child has left, and errno is the child's alone meanwhile.
enum { goes_on = CLONE_VFORK };
static long raw(long number, long a, long b, long c, long d) {
  long result = syscall(number, a, b, c, d);
  return result < 0 ? -errno : result;
}
#endif

#ifdef __GLIBC__
// The thread sanitizer takes `clone` for a fork, after which the memory would be the child's own.
extern int __clone(int (*body)(void *), void *stack, int flags, void *argument, ...);
#else
#define __clone clone
#endif

/// What the child does with our memory: plain system calls, no locks, nothing allocated.
static uninstrumented int begin(void *argument) {
  struct nursery *nursery = argument;
  const struct cprocess_launch *launch = &nursery->launch;
  atomic_store_explicit(&nursery->owner, (pid_t)raw(SYS_getpid, 0, 0, 0, 0), memory_order_release);
  raw(SYS_setsid, 0, 0, 0, 0);
  // The mask is full until here: a handler of ours would act on our memory.
  // Static, because to clear one here is a call of memset, which sanitizers replace.
  static const struct {
    void *handler;
    unsigned long flags, restorer, mask;
  } action;
  for (int signal = 1; signal <= 64; signal++) {
    if (signal != SIGKILL && signal != SIGSTOP) raw(SYS_rt_sigaction, signal, (long)&action, 0, 8);
  }
  long result = raw(SYS_dup3, launch->input, 0, 0, 0);
  if (result >= 0) result = raw(SYS_dup3, launch->output, 1, 0, 0);
  if (result >= 0) result = raw(SYS_dup3, launch->error, 2, 0, 0);
  if (result >= 0 && launch->directory != NULL) result = raw(SYS_chdir, (long)launch->directory, 0, 0, 0);
  if (result >= 0) {
    // A kernel that lacks it leaves what others opened without O_CLOEXEC.
    raw(SYS_close_range, 3, ~0U, 0, 0);
    if (cprocess_limit_was_raised) raw(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&cprocess_original_limit, 0);
    unsigned long none = 0;
    raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, 8);
    result = raw(SYS_execve, (long)launch->path, (long)launch->arguments, (long)launch->environment, 0);
  }
  atomic_store_explicit(&nursery->failure, (int)-result, memory_order_release);
  raw(SYS_exit_group, 127, 0, 0, 0);
  __builtin_unreachable();
}

/// Those whose number the caller of `cprocess_spawn` does not know yet.
enum { launching_capacity = 64 };
static struct nursery *_Atomic launching[launching_capacity];

int cprocess_spawn(const struct cprocess_launch *launch, struct cprocess_child *spawned) {
  size_t text_size = size_of(launch->arguments) + size_of(launch->environment) + strlen(launch->path) + 1;
  if (launch->directory != NULL) text_size += strlen(launch->directory) + 1;
  struct nursery *nursery = claim(text_size);
  if (nursery == NULL) return ENOMEM;
  char *at = nursery->text;
  nursery->launch = *launch;
  nursery->launch.arguments = copy_table(&at, launch->arguments);
  nursery->launch.environment = copy_table(&at, launch->environment);
  nursery->launch.path = copy(&at, launch->path);
  if (launch->directory != NULL) nursery->launch.directory = copy(&at, launch->directory);

  spawned->nursery = nursery;
  spawned->descriptor = -1;
  for (int i = 0; i < launching_capacity; i++) {
    struct nursery *none = NULL;
    if (atomic_compare_exchange_strong(&launching[i], &none, nursery)) break;
  }
  sigset_t all, before;
  sigfillset(&all);
  // A child's end is signalled to the thread that made it. Where that thread blocks SIGCHLD, as those of dispatch do, the
  // signal is not dropped but wakes two threads, who find that nobody wants it. The child, which has none, gets no SIGCHLD.
  if (cprocess_drops_child_signals) sigdelset(&all, SIGCHLD);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (cprocess_drops_child_signals) sigdelset(&before, SIGCHLD);
  // Said once more, so that what was written here is seen by whoever finds that the kernel has cleared it, and so that the
  // thread sanitizer, which does not see the kernel, knows.
  atomic_store_explicit(&nursery->tenant, -1, memory_order_release);
  pid_t pid = __clone(
      begin, nursery->stack + sizeof nursery->stack, CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | goes_on | SIGCHLD,
      nursery, &spawned->descriptor, NULL, &nursery->tenant);
  int failure = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (pid > 0) {
    spawned->pid = pid;
    return 0;
  }
  cprocess_launched(spawned);
  atomic_store_explicit(&nursery->tenant, 0, memory_order_release);
  return failure;
}

void cprocess_launched(const struct cprocess_child *child) {
  for (int i = 0; i < launching_capacity; i++) {
    if (atomic_load_explicit(&launching[i], memory_order_relaxed) != child->nursery) continue;
    atomic_store_explicit(&launching[i], NULL, memory_order_release);
    return;
  }
}

bool cprocess_is_launching(pid_t pid) {
  for (int i = 0; i < launching_capacity; i++) {
    struct nursery *nursery = atomic_load_explicit(&launching[i], memory_order_acquire);
    if (nursery != NULL && atomic_load_explicit(&nursery->owner, memory_order_acquire) == pid) return true;
  }
  return false;
}

void cprocess_await_program(const struct cprocess_child *child) {
  struct nursery *nursery = child->nursery;
  for (int attempt = 0; attempt < 20; attempt++) {
    int tenant = atomic_load_explicit(&nursery->tenant, memory_order_acquire);
    if (tenant == 0 || atomic_load_explicit(&nursery->owner, memory_order_acquire) != child->pid) return;
    struct timespec limit = {.tv_nsec = 5000000};
    syscall(SYS_futex, &nursery->tenant, FUTEX_WAIT, tenant, &limit, NULL, 0);
  }
}

int cprocess_failure(const struct cprocess_child *child) {
  struct nursery *nursery = child->nursery;
  if (atomic_load_explicit(&nursery->owner, memory_order_acquire) != child->pid) return 0;
  return atomic_exchange_explicit(&nursery->failure, 0, memory_order_acq_rel);
}

#endif
