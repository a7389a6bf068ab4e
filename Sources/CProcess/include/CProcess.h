#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/types.h>

// Missing in Swift's module of the C library

int pipe2(int ends[2], int flags);
int memfd_create(const char *name, unsigned flags);
int posix_openpt(int flags);
int grantpt(int controller);
int unlockpt(int controller);

// Notifications

/// Opens a socket for messages of sd_notify, with a name that the system chooses, and writes the name as NOTIFY_SOCKET has
/// it; -1 with errno on failure.
int cprocess_notify_open(char name[32]);

/// Takes one message without waiting; returns its length, 0 for one of another user or of none, or -1 with errno.
ssize_t cprocess_notify_take(int socket, char *message, size_t capacity);

// Launching

struct cprocess_launch {
  const char *path;
  char *const *arguments;
  char *const *environment;
  const char *directory;  // NULL: the current directory
  int input, output, error;
  /// Whether `output` is a terminal, which becomes the controlling one.
  bool has_terminal;
  /// Descriptors above 4 that become 3 and 4 of the program; 0 for none.
  int third, fourth;
};

struct cprocess_child {
  pid_t pid;
  /// A pidfd, to be closed by the caller.
  int descriptor;
  /// For `cprocess_launched`.
  void *slot;
};

/// Starts a program as the leader of a session and group of its own, with default signals and no descriptors but 0, 1 and
/// 2, and returns once it has begun.
///
/// Returns 0, and `cprocess_launched` must follow, or an errno. The launch's descriptors must be above 2. A SIGCHLD that this
/// process ignores gets its default action: the kernel would discard the exit statuses.
int cprocess_spawn(const struct cprocess_launch *launch, struct cprocess_child *child);

/// Process scans find the child from now on, so it no longer counts as launching.
void cprocess_launched(const struct cprocess_child *child);

/// Whether a process is a child of `cprocess_spawn` without a `cprocess_launched` yet.
///
/// For scans: the environment of a child can't be read in the middle of its exec, and a slow exec would make the scan
/// doubtful. False is uncertain only for a child that has not left this process's session yet.
bool cprocess_is_launching(pid_t pid);

/// Raises the soft limit of open descriptors to the hard one; children get the old limit back.
void cprocess_raise_descriptor_limit(void);

/// From now on threads that spawn do not block SIGCHLD: its default action, to ignore it, then costs nothing. Also replaces an
/// ignored SIGCHLD at once, as each spawn does.
void cprocess_drop_child_signals(void);

/// From now on orphaned descendants become children of this process. Returns whether the system allows it.
bool cprocess_adopt_orphans(void);

/// From now on the C library returns freed blocks of this size and more to the system. Returns whether it does.
bool cprocess_return_blocks(int size);

// Signals

/// Sends a signal to the process with this number if it is in this session: the number may have been reused.
bool cprocess_signal(pid_t pid, pid_t session, int signal);

/// Sends a signal to the process with this number if it started at this time: the number may have been reused.
bool cprocess_signal_started(pid_t pid, uint64_t start_time, int signal);

/// Whether a signal's default action ends the process and a handler can replace it.
bool cprocess_is_fatal(int signal);

/// Sends a signal to this thread, also if the thread blocks it. Async-signal-safe.
void cprocess_raise(int signal);

/// `environ`.
char **cprocess_environment(void);

/// Opens a pidfd, to be closed by the caller; -1 with errno on failure.
int cprocess_open(pid_t pid);

/// Does not return while the program ends by a signal: no process is started any more, and no end is reported that the
/// program has caused itself.
void cprocess_hold_if_ending(void);

// Scanning

struct cprocess_info {
  pid_t pid, parent, group, session;
  bool ended;
  /// Clock ticks since the boot; tells processes with the same number apart.
  uint64_t start_time;
};

/// The present time, as in `start_time`.
uint64_t cprocess_ticks(void);

/// Reads the facts about a process; false if there is none with this number.
bool cprocess_look(pid_t pid, struct cprocess_info *info);

/// The foreground group of the terminal whose session a process leads; 0 if there is none.
pid_t cprocess_foreground(pid_t leader);

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
/// The guardian calls `at_end` first, unless NULL, in a fork of this process: `at_end` may make system calls only.
/// Returns a descriptor whose stream ends when the guardian is killed, or a negative errno.
int cprocess_guardian_start(const char *cookie, void (*at_end)(void));

/// Starts another guardian after one was killed, which it reaps; returns like `cprocess_guardian_start`.
int cprocess_guardian_replace(void);

/// Has the guardian close the terminal of this process, whose standard streams must have left it already.
///
/// Until then the guardian keeps it open. Does nothing without a guardian.
void cprocess_guardian_leave_terminal(void);

/// Whether this process, which adopts orphans and starts no more children, has none: then nothing of a job is left, and the
/// guardian looks for nothing.
bool cprocess_guardian_release(void);

/// The guardian, 0 where there is none; a replaced one is a child of this process.
pid_t cprocess_guardian(void);

/// From now on a signal whose action is the default one and that ends this process kills the run's processes first: those
/// that this process has adopted can't be found after its end.
///
/// Not after SIGKILL, and not where a stack has overflowed on a thread without another one for signals.
void cprocess_end_by_signals(void);

enum { cprocess_guardian_capacity = 1 << 16 };

/// Gives the guardian a group to kill; 0 frees the slot. Costs one store.
///
/// A group with something to end on other machines gets SIGTERM first, and two seconds.
void cprocess_guardian_set(size_t slot, pid_t group, bool is_remote);

// Stacks

enum { cprocess_call_limit = 256 };

/// The calls of a thread that has an object in its registers or on its stack, innermost first.
struct cprocess_stack {
  pid_t thread;
  int count;
  /// The address of the next instruction, then the return address of each call.
  uintptr_t calls[cprocess_call_limit];
  /// Whether the object's address is in a register or in the frame of the call.
  bool holds[cprocess_call_limit];
};

/// Reads the stacks of this process's other threads that hold an object's address, and writes at most `capacity` of them.
///
/// Each thread is stopped for some microseconds, by the means of a debugger: no call of it is interrupted but `epoll_wait`,
/// which returns EINTR. Takes `patience` milliseconds at most. Returns the number of stacks, or -1 with errno: EPERM where the
/// system allows no debugger, ENOTSUP on another processor than x86-64 and under a sanitizer, ETIMEDOUT.
int cprocess_find_stacks(const void *object, struct cprocess_stack *stacks, int capacity, int patience);

/// Finds the function of an address of this process, as the symbol table of its file names it, and the file without its
/// folders; false, and the address in the file as the name, if no table has it.
bool cprocess_find_function(uintptr_t address, char *name, size_t capacity, char *file, size_t file_capacity);

/// A mangled name for people, to be freed; NULL if it is not mangled. From Swift's runtime.
char *swift_demangle(const char *name, size_t length, char *buffer, size_t *capacity, uint32_t flags);
