#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/// Has the terminal restored when the process ends by exit, by an unhandled signal or by a fault; for SIGKILL, see
/// `terminal_guard_restore_killed`.
///
/// `bytes` are written to `fd`, then `shell` becomes its mode. Arming again replaces both. Handlers are installed
/// once, over default actions or those of a crash reporter, which is called afterwards. Call it from one thread at a
/// time. Returns 0, or an errno if `length` is too large.
int terminal_guard_arm(int fd, const struct termios *shell, const char *bytes, size_t length);

/// Gives the calling thread an alternate signal stack if it has none, so that a stack overflow can be handled.
/// For the thread that serves the UI, which may change from call to call.
void terminal_guard_thread(void);

/// Disarms: the terminal has been restored by other means. After `terminal_guard_discard` it is restored once more,
/// because the discarded output may have ended a mode.
void terminal_guard_disarm(void);

/// Restores the terminal now if armed, and disarms. Safe in a signal handler.
///
/// Waits half a second at most; the unread output of a full terminal is discarded to make room.
void terminal_guard_restore(void);

/// Discards the output that the reader of a full terminal has not read, so that a thread that waits in `write` goes on, at
/// least as far as the next bufferful. Returns false, and does nothing, if it is not full or another program has it.
bool terminal_discard(int fd);

/// The same on the armed terminal, which is restored once more when it is disarmed.
bool terminal_guard_discard(void);

/// Wakes the threads that wait in `write` to a terminal, unless another program has it.
///
/// Linux discards unread output when ^C or ^Z is typed, but does not wake the writers. They would wait for the next read,
/// which never comes, because nothing is left to be read. Never blocks.
void terminal_wake_writers(int fd);

/// Keeps the guard's state in memory that processes forked from now on share, for `terminal_guard_restore_killed` in one
/// of them. Call it before arming.
void terminal_guard_share(void);

/// Restores the terminal of the program that has armed the guard and has been killed; for a process forked from it.
///
/// Does nothing if another program has the terminal by now; where the shell has it back, only the screen is restored.
void terminal_guard_restore_killed(void);

/// Stops the process group as ^Z does; returns when it continues, or at once if no shell could continue it.
void terminal_stop_group(void);

/// Whether a process group other than this one is in the foreground of the terminal.
bool terminal_is_taken(int fd);

/// The column count and row count of the terminal; 80 and 24 if they are unknown.
void terminal_get_size(int fd, int *columns, int *rows);

/// Writes all bytes; a full non-blocking descriptor is waited for, `patience` milliseconds at most, -1 for ever.
///
/// Returns 0 or an errno. Safe in a signal handler.
int terminal_write(int fd, const void *bytes, size_t length, int patience);

/// Whether the signal has its default action, or is ignored.
int signal_is_default(int number);
int signal_is_ignored(int number);

/// A non-blocking descriptor from which watched signals are read, a byte each, in order; -1 with errno on failure.
///
/// It is closed in children.
int signal_pipe_open(void);

/// All signals so far were answered. If none is for 15 s after SIGINT, SIGTERM or SIGHUP, the terminal is restored and the
/// process ends with that signal's status.
void signal_pipe_answer(void);

/// Replaces the action of the signal by a write to the pipe. Returns 0 or an errno.
///
/// It takes effect at once, unlike a dispatch source, which installs its handler later on a thread of its own.
int signal_pipe_watch(int number);

/// Restores the action that the signal had before it was watched.
void signal_pipe_unwatch(int number);
