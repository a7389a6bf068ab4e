#pragma once
#include <stddef.h>
#include <termios.h>

/// Keeps what puts the terminal back, so that it is put back however the process ends: by exit, by a signal
/// nobody handles, by a fault. Nothing helps against SIGKILL.
///
/// `bytes` are written to `fd`, then `shell` becomes its mode. Arming again replaces what was kept. Handlers
/// are installed once, over the default disposition or a crash reporter's, which runs afterwards.
/// Call it from one thread at a time. Returns 0, or an errno when `length` is too large.
int terminal_guard_arm(int fd, const struct termios *shell, const char *bytes, size_t length);

/// Gives the calling thread a stack for the handlers if it has none, so that an overflow of its own can be handled.
/// For the thread of the UI, which may be another one from call to call.
void terminal_guard_thread(void);

/// The terminal has been put back by other means.
void terminal_guard_disarm(void);

/// Puts the terminal back now if armed, and disarms. Safe in a signal handler.
void terminal_guard_restore(void);

/// Stops the process group as ^Z does and returns when it goes on; at once where no shell could continue it.
void terminal_stop_group(void);

/// The column count and row count of the terminal; 0 on success.
int terminal_get_size(int fd, int *columns, int *rows);

/// The end from which the watched signals are read, a byte each, in order; -1 with errno where there is none.
///
/// It never blocks and is closed in children.
int signal_pipe_open(void);

/// From now on the signal is noted in the pipe instead of what it does by itself. Returns 0 or an errno.
///
/// Unlike a dispatch source, which installs its handler some time later on a thread of its own, nothing is lost from here on.
int signal_pipe_watch(int number);

/// The signal does again what it did before it was watched.
void signal_pipe_unwatch(int number);
