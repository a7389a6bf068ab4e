#pragma once
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

// Swift imports neither variadic functions nor macros with casts.

static inline void opdash_mhd_say_nothing(void *cls, const char *format, va_list arguments) {
  // The library's messages on standard error would ruin a dashboard's screen.
  (void)cls;
  (void)format;
  (void)arguments;
}

/// One thread for all connections, on 127.0.0.1; port 0 lets the system choose. NULL with errno set if it can't.
static inline struct MHD_Daemon *opdash_mhd_start(
    uint16_t port, MHD_AccessHandlerCallback handle, void *cls,
    void *(*open_request)(void *cls, const char *uri, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, port, NULL, NULL, handle, cls,
      MHD_OPTION_EXTERNAL_LOGGER, opdash_mhd_say_nothing, NULL,
      MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
      MHD_OPTION_URI_LOG_CALLBACK, open_request, cls,
      MHD_OPTION_NOTIFY_COMPLETED, completed, cls,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(128 * 1024),
      MHD_OPTION_END);
}

static inline uint16_t opdash_mhd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

static inline int opdash_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? (int)info->connect_fd : -1;
}

/// The peer gets a reset, not an orderly end.
static inline void opdash_mhd_reset(struct MHD_Connection *connection) {
  int fd = opdash_mhd_socket(connection);
  if (fd < 0) return;
  // Dissolving the association resets it at once; a linger of 0 would come after the library's shutdown.
  struct sockaddr nobody;
  memset(&nobody, 0, sizeof nobody);
  nobody.sa_family = AF_UNSPEC;
  connect(fd, &nobody, sizeof nobody);
}

/// Bytes that go out as they are, past the library.
static inline void opdash_mhd_send_raw(struct MHD_Connection *connection, const void *bytes, size_t count) {
  int fd = opdash_mhd_socket(connection);
  if (fd >= 0) (void)send(fd, bytes, count, MSG_NOSIGNAL);
}

static inline ssize_t opdash_mhd_end_with_error(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }
static inline ssize_t opdash_mhd_end_of_stream(void) { return MHD_CONTENT_READER_END_OF_STREAM; }
