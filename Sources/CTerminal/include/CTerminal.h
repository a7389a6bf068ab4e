#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/// Has the terminal restored when the process ends by exit, by an unhandled signal or by a fault; for SIGKILL, see
/// `terminal_guard_restore_killed`.
///
/// `bytes` are written to `fd`, then `shell` becomes its mode. Arming again replaces both. Handlers are installed
/// once, over default actions, over handlers with SA_RESETHAND, and over a crash reporter's handlers; the latter two
/// are called afterwards. Call it from one thread at a time. Returns 0, or an errno if `length` is too large.
int terminal_guard_arm(int fd, const struct termios *shell, const char *bytes, size_t length);

/// Gives the calling thread an alternate signal stack if it has none, so that a stack overflow can be handled.
/// For the thread that serves the UI, which may change from call to call.
void terminal_guard_thread(void);

/// Disarms: the terminal has been restored by other means. After `terminal_guard_discard` it is restored once more,
/// because the discarded output may have ended a mode.
void terminal_guard_disarm(void);

/// Restores the terminal now if armed, and disarms; then ends a capture of the program's output. Safe in a signal handler.
///
/// Waits half a second at most; the unread output of a full terminal is discarded to make room.
void terminal_guard_restore(void);

/// Restores the terminal and ends the process by the signal's default action.
_Noreturn void terminal_end_by_signal(int number);

/// Before and after a thread changes the terminal's modes or draws: `terminal_guard_restore` on another thread waits for the
/// end, 0.1 s at most. After it neither `terminal_change_begin` nor `terminal_write` within a change returns, because the
/// process ends.
///
/// They may be nested.
void terminal_change_begin(void);
void terminal_change_end(void);

/// Discards the unread output of a full terminal, so that a thread waiting in `write` can continue for at least one more
/// buffer. Returns false, and does nothing, if it is not full or another program has it.
bool terminal_discard(int fd);

/// The same on the armed terminal, which is restored once more when it is disarmed.
bool terminal_guard_discard(void);

/// Whether the armed terminal takes no output: its reader is slow or gone. Never blocks.
bool terminal_guard_is_full(void);

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

/// Receives the program's output; called on a thread of the capture, and on the caller of `output_capture_end`.
typedef void (*output_capture_receiver)(const char *bytes, size_t length);

/// A descriptor of the terminal that stays open: for the screen, while standard output and error are captured. -1 with errno
/// on failure.
int output_capture_terminal(int terminal);

/// Replaces standard output and error, where they are the terminal, by a pipe whose bytes `receive` gets.
///
/// They are kept in an unlinked file of `folder` until the terminal shows them. A writer never waits for a reader of the
/// screen. Returns 0 or an errno; then the streams stay as they are. To be called from one thread at a time, like the
/// functions below.
int output_capture_begin(const char *folder, output_capture_receiver receive);

/// The oldest captured bytes that the terminal has not shown; returns how many there are, `length` at most.
size_t output_capture_peek(char *bytes, size_t length);

/// The terminal shows so many bytes more.
void output_capture_shown(size_t length);

/// Restores the streams and writes output not yet shown to the terminal, which must have been restored.
///
/// Bytes that a child writes to the pipe later are passed on to the terminal.
void output_capture_end(void);

/// The same where the process ends; safe in a signal handler. Gives up where the terminal takes nothing for 0.3 s.
void output_capture_abandon(void);

/// Has standard output write each line when it ends, whatever it is.
void output_keep_lines_whole(void);

/// `terminal_wake_writers` for standard output, standard error and the terminal of the capture.
void output_wake_writers(void);

/// Stops the process group as ^Z does; returns when it continues, or at once if no shell could continue it.
void terminal_stop_group(void);

/// Whether a process group other than this one is in the foreground of the terminal.
bool terminal_is_taken(int fd);

/// The column count and row count of the terminal; 80 and 24 if they are unknown.
void terminal_get_size(int fd, int *columns, int *rows);

/// Writes all bytes; waits at most `patience` milliseconds for a full non-blocking descriptor, without limit if -1.
///
/// Returns 0 or an errno. Safe in a signal handler.
int terminal_write(int fd, const void *bytes, size_t length, int patience);

/// Whether the signal has its default action, or is ignored.
int signal_is_default(int number);
int signal_is_ignored(int number);

/// A non-blocking descriptor that yields watched signals, a byte each, in order; -1 with errno on failure.
///
/// A byte 0 is a question, which only wants an answer. After SIGINT, SIGTERM or SIGHUP one comes every `tenths` of a second
/// while signals are watched. If no answer comes within that time, the terminal is restored and the process ends by the last
/// of these signals. Children don't inherit the descriptor. The first call decides about `tenths`.
int signal_pipe_open(int tenths);

/// All bytes so far were answered.
void signal_pipe_answer(void);

/// Replaces the action of the signal by a write to the pipe. Returns 0 or an errno.
///
/// Takes effect at once, unlike a dispatch source, which installs its handler later on a thread of its own.
int signal_pipe_watch(int number);

/// Restores the action that the signal had before it was watched.
void signal_pipe_unwatch(int number);

/// Forks and returns in the child, 0, which continues as the program; or -1 with errno, without a fork.
///
/// The parent stays in front of it: it passes signals on, stops with the program, ends with its status, and takes it
/// along if it is killed. To be called while there is one thread.
int terminal_front_begin(void);

/// The process in front of this one; 0 if there is none.
pid_t terminal_front(void);

/// Leaves the session of the terminal, ignores SIGHUP, has the guardian close the terminal and ends the process in front with
/// status 0; false if there is none.
///
/// The program's own descriptors must have left the terminal already.
bool terminal_front_leave(void);
