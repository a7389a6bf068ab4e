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
  const char *directory;  // NULL: the current directory
  int input, output, error;
  /// Whether `output` is a terminal, which becomes the controlling one.
  bool has_terminal;
};

struct cprocess_child {
  pid_t pid;
  /// A pidfd, to be closed by the caller; -1 where the system has none.
  int descriptor;
  /// For `cprocess_launched`.
  void *slot;
};

/// Starts a program as the leader of a session and group of its own, with default signals and no descriptors but 0, 1 and
/// 2, and returns once it has begun.
///
/// Returns 0, and `cprocess_launched` must follow, or an errno. The launch's descriptors must be above 2.
int cprocess_spawn(const struct cprocess_launch *launch, struct cprocess_child *child);

/// Process scans find the child from now on, so it no longer counts as launching.
void cprocess_launched(const struct cprocess_child *child);

/// Whether a process is a child of `cprocess_spawn` without a `cprocess_launched` yet.
///
/// For scans: the environment of a child can't be read in the middle of its exec, and a slow exec would make the scan
/// doubtful. False is uncertain only for a child that has not left this process's session yet.
bool cprocess_is_launching(pid_t pid);

/// A pipe that no child inherits, with a non-blocking reader. Returns 0 or an errno.
int cprocess_pipe(int *reader, int *writer);

/// Opens /dev/null for reading; negative on failure.
int cprocess_null(void);

/// Opens a file for reading that no child inherits by itself. Negative: an errno.
int cprocess_open_input(const char *path);

/// A file without a name that holds the bytes and is read from its beginning. Negative: an errno.
int cprocess_input(const void *bytes, size_t count);

/// A pseudo-terminal that no child inherits, with a non-blocking controller: lines, no echo, no flow control, and line feeds
/// without carriage returns. Returns 0 or an errno.
int cprocess_terminal(uint16_t columns, uint16_t rows, int *controller, int *terminal);

/// Sets the size of a terminal; the kernel notifies its foreground group.
void cprocess_terminal_resize(int controller, uint16_t columns, uint16_t rows);

/// Types the end of the input if a program that reads the terminal would wait, because there is no other input.
///
/// With `also_keys`, a program that reads single keys is given Control-D as well.
void cprocess_terminal_end_input(int controller, int terminal, bool also_keys);

/// Raises the soft limit of open descriptors to the hard one; children get the old limit back.
void cprocess_raise_descriptor_limit(void);

/// How many more descriptors this process may open, at most `wanted` and 64.
int cprocess_free_descriptors(int wanted);

/// How many more threads this process may start, at most `wanted` and 64.
int cprocess_free_threads(int wanted);

/// Whether the address space of this process is limited.
bool cprocess_memory_is_limited(void);

/// From now on threads that spawn do not block SIGCHLD: its default action, to ignore it, then costs nothing.
void cprocess_drop_child_signals(void);

/// From now on orphaned descendants become children of this process. Returns whether the system supports it.
bool cprocess_adopt_orphans(void);

// Ends

enum cprocess_end { cprocess_alive, cprocess_exited, cprocess_signalled, cprocess_unknown };

/// How a child has ended, without reaping it; `code` is the exit status or the signal.
enum cprocess_end cprocess_peek(pid_t pid, int *code);

/// Reaps a child that has ended.
void cprocess_reap(pid_t pid);

/// A child of this process that has ended and is not reaped; 0 if there is none.
pid_t cprocess_ended_child(void);

/// Whether a child was stopped by a signal, or continued, since the last call; `signal` is 0 if it continued last.
bool cprocess_stop(pid_t pid, int *signal);

/// Sends a signal to the process with this number if it is in this session: the number may have been reused.
bool cprocess_signal(pid_t pid, pid_t session, int signal);

/// Sends a signal to the process with this number if it started at this time: the number may have been reused.
bool cprocess_signal_started(pid_t pid, uint64_t start_time, int signal);

/// `environ`.
char **cprocess_environment(void);

// Events

/// Makes an epoll or kqueue descriptor. Negative: an errno.
int cprocess_poller_create(void);
/// Opens a pidfd, to be closed by the caller; -1 where the system has none. Returns 0 or an errno.
int cprocess_open(pid_t pid, int *descriptor);
/// Reports the end of a process, once.
int cprocess_poller_watch_process(int poller, pid_t pid, int descriptor, uint64_t token);
/// Reports bytes and the end of the stream, edge-triggered: read until there is no more.
int cprocess_poller_watch_reader(int poller, int descriptor, uint64_t token);
/// As with a reader, for the controller of a terminal; on Linux it also reports that a program has read its input.
int cprocess_poller_watch_terminal(int poller, int controller, uint64_t token);
/// Makes a waker with a token of its own. Negative: an errno.
int cprocess_poller_make_waker(int poller, uint64_t token);
/// Wakes the poller; from any thread.
void cprocess_poller_wake(int waker);
/// Waits for events, at most `milliseconds` (negative: without limit). Returns how many tokens it has written.
int cprocess_poller_wait(int poller, uint64_t *tokens, int capacity, int64_t milliseconds);

// Scanning

struct cprocess_info {
  pid_t pid, parent, group, session;
  bool ended;
  /// Clock ticks since the boot on Linux, microseconds since 1970 on macOS; tells processes with the same number apart.
  uint64_t start_time;
};

/// Reads the facts about a process; false if there is none with this number.
bool cprocess_look(pid_t pid, struct cprocess_info *info);

/// Lists the processes of the system; returns their number and writes at most `capacity` of them.
size_t cprocess_list(struct cprocess_info *list, size_t capacity);

/// The number of the launch that a process descends from: n, where one of the colon-separated words of its environment's
/// `OPDASH_RUN` is `cookie/n`.
///
/// -1 if there is none or its environment may not be read. Undecided if the process has ended meanwhile or is in the
/// middle of an exec: scan again, for it and for processes that it started.
enum { cprocess_undecided = -2 };
int64_t cprocess_launch_number(pid_t pid, const char *cookie);

/// Counts scans in a row that saw no living process of a run.
struct cprocess_silence {
  int scans;
  int certain;
};

/// Takes the result of one more scan; returns whether no process is left.
///
/// `needed` scans in a row without doubt say so: a single one can miss a process that is started meanwhile. A scan is doubtful if
/// a process ended before its owner was known. Where other programs start and end all the time each scan is doubtful, and 32 scans
/// that saw none suffice.
bool cprocess_is_silent(struct cprocess_silence *silence, int needed, bool is_alive, bool is_doubtful);

/// The number of the newest process or thread; -1 if the system doesn't tell.
pid_t cprocess_newest(void);

// The guardian

/// Starts a process that kills this run's processes when this process has ended, however it ends.
///
/// If it is killed itself, another one takes its place. Returns its pid, or a negative errno.
pid_t cprocess_guardian_start(const char *cookie);

/// The guardian, 0 where there is none; a replaced one is a child of this process.
pid_t cprocess_guardian(void);

/// From now on a signal whose action is the default one and that ends this process kills the run's processes first: those
/// that this process has adopted can't be found after its end.
///
/// Not after SIGKILL, and not where a stack has overflowed on a thread without another one for signals.
void cprocess_end_by_signals(void);

/// Has the guardian call `body` once this process has ended, however it ends, before it kills the processes.
///
/// To be called before the guardian starts. `body` executes in a fork of this process: system calls only.
void cprocess_guardian_at_end(void (*body)(void));

enum { cprocess_guardian_capacity = 1 << 16 };

/// Gives the guardian a group to kill; 0 frees the slot. Costs one store.
///
/// A group with something to end on other machines gets SIGTERM first, and two seconds.
void cprocess_guardian_set(size_t slot, pid_t group, bool is_remote);
