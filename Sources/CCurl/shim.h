#pragma once
#include <curl/curl.h>
#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <string.h>
// Swift's module of the C library leaves these functions out.
#include <sys/xattr.h>

// Swift imports neither variadic functions nor most macros, so each kind of argument gets a typed function here.

typedef size_t (*ccurl_data_callback)(char *data, size_t size, size_t count, void *context);
typedef int (*ccurl_seek_callback)(void *context, curl_off_t offset, int origin);

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

/// libcurl copies the string.
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_data_callback(CURL *easy, CURLoption option, ccurl_data_callback callback) {
  return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode ccurl_set_seek_callback(CURL *easy, ccurl_seek_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

static inline long ccurl_get_long(CURL *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

static inline curl_off_t ccurl_get_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

/// The result of a finished handle.
static inline CURLcode ccurl_result(const CURLMsg *message) { return message->data.result; }

/// Allows http and https only, also for a libcurl with other protocols.
static inline CURLcode ccurl_allow_only_http(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static inline int ccurl_close_on_exec(void *context, curl_socket_t socket, curlsocktype purpose) {
  (void)context;
  (void)purpose;
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  return CURL_SOCKOPT_OK;
}

/// Sets O_CLOEXEC on the handle's sockets.
static inline CURLcode ccurl_set_close_on_exec(CURL *easy) {
  return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, ccurl_close_on_exec);
}

static inline int ccurl_note_excess(CURL *easy, curl_infotype type, char *data, size_t size, void *context) {
  static const char words[] = "Excess found";
  (void)easy;
  if (type == CURLINFO_TEXT && size >= sizeof words - 1 && memcmp(data, words, sizeof words - 1) == 0)
    *(bool *)context = true;
  return 0;
}

/// Sets `*excess` when the server sends more than its Content-Length: libcurl drops these bytes, reports success and tells
/// only its debug callback.
static inline void ccurl_watch_for_excess(CURL *easy, bool *excess) {
  curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, ccurl_note_excess);
  curl_easy_setopt(easy, CURLOPT_DEBUGDATA, excess);
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

/// The host's name in DNS, to be freed by `curl_free`; NULL if it has none.
///
/// libcurl converts a host from the encoding of the thread's locale, and hosts of URLs are UTF-8.
static inline char *ccurl_ascii_host(CURLU *url) {
  char *host = NULL;
#ifdef CURLU_PUNYCODE
  locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
  if (!utf8) utf8 = newlocale(LC_CTYPE_MASK, "en_US.UTF-8", NULL);
  if (!utf8) return NULL;
  locale_t old = uselocale(utf8);
  if (curl_url_get(url, CURLUPART_HOST, &host, CURLU_PUNYCODE) != CURLUE_OK) host = NULL;
  uselocale(old);
  freelocale(utf8);
#endif
  return host;
}
