#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Launching

struct cprocess_launch {
  const char *path;
  char *const *arguments;
  char *const *environment;
  const char *directory;  // NULL: where we are
  int input, output, error;
};

struct cprocess_child {
  pid_t pid;
  /// Stands for the process, to close when it is no longer of interest; -1 where there is no such thing.
  int descriptor;
  /// Where the child is until its program begins.
  void *nursery;
};

/// Starts a program as the leader of a session and group of its own, with default signals and no descriptor but 0, 1 and 2.
/// Returns 0, and `cprocess_launched` must follow, or an errno. The launch's descriptors must be above 2.
///
/// On Linux it does not wait for the program: whether that could begin is told by `cprocess_failure` after the child's end.
int cprocess_spawn(const struct cprocess_launch *launch, struct cprocess_child *child);

/// The caller knows the child: it counts as launching no longer.
void cprocess_launched(const struct cprocess_child *child);

/// Whether a process is one that `cprocess_spawn` has just made and its caller does not know yet. True is certain.
bool cprocess_is_launching(pid_t pid);

/// Waits until the child's program has begun, at most a tenth of a second; a signal sent before might miss its group.
void cprocess_await_program(const struct cprocess_child *child);

/// Why the program of a child that has ended never began, an errno; 0 if it did. To be asked once, before the child is reaped.
int cprocess_failure(const struct cprocess_child *child);

/// A pipe that no child inherits, with a reading end that never blocks. Returns 0 or an errno.
int cprocess_pipe(int *reader, int *writer);

/// What reads as empty; negative if it can't be had.
int cprocess_null(void);

/// Raises the soft limit of open descriptors to the hard one; children get back what was there before.
void cprocess_raise_descriptor_limit(void);

/// From now on threads that spawn let SIGCHLD through: by default it does nothing, and costs nothing then.
void cprocess_drop_child_signals(void);

/// From now on orphaned descendants become our children. Returns whether the system can do it.
bool cprocess_adopt_orphans(void);

// Ends

enum cprocess_end { cprocess_alive, cprocess_exited, cprocess_signalled, cprocess_unknown };

/// How a child has ended, which stays a zombie: its number can't be given to another process yet.
enum cprocess_end cprocess_peek(pid_t pid, int *code);

/// Lets a child that has ended go.
void cprocess_reap(pid_t pid);

/// Waits until a child has ended, and lets it go.
void cprocess_wait(pid_t pid);

/// A child of ours that has ended and waits to be reaped; 0 if there is none.
pid_t cprocess_ended_child(void);

/// Sends a signal to a process only if it is still the one that is in this session; its number may have gone to another.
bool cprocess_signal(pid_t pid, pid_t session, int signal);

/// The environment that this process was started with, and what was changed in it since.
char **cprocess_environment(void);

// Events

/// What tells about ends and output: epoll, or kqueue. Negative: an errno.
int cprocess_poller_create(void);
/// A descriptor that stands for a process, to close when it is no longer of interest; -1 where there is no such thing.
/// Returns 0 or an errno.
int cprocess_open(pid_t pid, int *descriptor);
/// The end of a process, told once.
int cprocess_poller_watch_process(int poller, pid_t pid, int descriptor, uint64_t token);
/// Bytes or the end of the stream, told at each arrival: read until there is no more.
int cprocess_poller_watch_reader(int poller, int descriptor, uint64_t token);
/// What wakes the poller from other threads, with a token of its own. Negative: an errno.
int cprocess_poller_make_waker(int poller, uint64_t token);
void cprocess_poller_wake(int waker);
/// Waits for events, at most `milliseconds` (negative: for ever). Returns how many there are.
int cprocess_poller_wait(int poller, uint64_t *tokens, int capacity, int64_t milliseconds);

// Who is there

struct cprocess_info {
  pid_t pid, parent, group, session;
  bool ended;
};

/// Whether a process has this number, and what it is.
bool cprocess_look(pid_t pid, struct cprocess_info *info);

/// The processes of this system; returns how many there are, of which at most `capacity` are written.
size_t cprocess_list(struct cprocess_info *list, size_t capacity);

/// The launch a process comes from, as its environment says: n, where one of the colon-separated words of `OPDASH_RUN` is
/// `cookie/n`. -1 if there is none or we may not look; undecided if it ended meanwhile, or is just on its way into another
/// program: look again, for it or for what it started.
enum { cprocess_undecided = -2 };
int64_t cprocess_launch_number(pid_t pid, const char *cookie);

/// The number given to the newest process or thread, -1 if the system doesn't say.
pid_t cprocess_newest(void);

// The guardian

/// Starts the process that ends this run's processes when we are gone, however that came. Returns its number, or a negative errno.
pid_t cprocess_guardian_start(const char *cookie);

enum { cprocess_guardian_capacity = 1 << 16 };

/// Tells the guardian of a group, or, with 0, that its slot is free; costs a store.
void cprocess_guardian_set(size_t slot, pid_t group);
