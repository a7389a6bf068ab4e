import Foundation

/// An nginx of the test's own on loopback, gone when the value is, or when the test's process dies however it dies.
///
/// - `/files/NAME`: what `add` put there; `/noetag/NAME`, `/norange/NAME`: without the one or the other.
/// - `/rate/64k/NAME`: no faster than that, each connection.
/// - `/slow/NAME`: a trickle until `recover()`, full speed for requests after it.
/// - `/up/NAME`: PUT stores; the file is `uploads` and the name.
/// - `/status/404`, 403, 429, 500, 503: that status, with a sentence as its body.
/// - `/recover/NAME`: 503 until `recover()`.
/// - `/hops/xxx/NAME`: as many redirects as there are x, then the file; `/loop`: for ever.
/// - `/private/NAME`: only with the name `me` and the password `p@ss`, else 401.
/// - `/to?URL`: redirects there; `/put?URL`: the same with 307.
package final class Nginx: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package let port: UInt16
  private let folder: TemporaryFolder
  private let process: pid_t
  private let lifeline: Int32

  package init() throws {
    folder = try TemporaryFolder()
    for name in ["files", "uploads", "flags", "tmp"] {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
    }
    // Another process may take the port between the look and the start.
    for _ in 0..<5 {
      let port = try Loopback.freePort()
      let token = UUID().uuidString
      try Data(Self.configuration(folder.url.path(), port, token).utf8).write(to: folder.file("nginx.conf"))
      try? FileManager.default.removeItem(at: folder.file("exit"))
      let (process, lifeline) = try Self.spawn(in: folder.url.path())
      if Self.isReady(port, token, unless: folder.file("exit")) {
        (self.port, self.process, self.lifeline) = (port, process, lifeline)
        return
      }
      Self.end(process, lifeline)
    }
    let log = (try? String(contentsOf: folder.file("error.log"), encoding: .utf8)) ?? ""
    throw Failure(description: "nginx does not start; is it installed? \(log)")
  }

  deinit { Self.end(process, lifeline) }

  /// The whole URL of a path that begins with a slash.
  package func url(_ path: String) -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { fatalError("no URL: \(path)") }
    return url
  }

  package var files: URL { folder.file("files") }
  package var uploads: URL { folder.file("uploads") }

  /// Makes a file to be served and returns its bytes.
  @discardableResult
  package func add(_ name: String, size: Int, seed: UInt64 = 1) throws -> Data {
    let data = Data(randomBytes(size, seed: seed))
    try data.write(to: files.appending(path: name))
    return data
  }

  /// From now on `/recover/` serves its files, and `/slow/` at full speed.
  package func recover() throws { try Data().write(to: folder.file("flags/recovered")) }

  private static func end(_ process: pid_t, _ lifeline: Int32) {
    close(lifeline)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  /// The shell sits between: it ends nginx when its standard input does, and that is held open by this process alone.
  private static func spawn(in folder: String) throws -> (process: pid_t, lifeline: Int32) {
    let script = """
      exec 3<&0
      { nginx -p '\(folder)' -e error.log -c nginx.conf; echo $? >'\(folder)/exit'; } </dev/null >>'\(folder)/out' 2>&1 3<&- &
      read -r line <&3
      kill -9 $(cat '\(folder)/nginx.pid') 2>/dev/null
      wait
      """
    var ends: [Int32] = [0, 0]
    // Nothing that starts beside this may inherit the end that is to be ours alone; a pipe could be marked only too late.
    guard Loopback.pair(&ends) else { throw Failure(description: "no socket pair") }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    // A dispatch thread blocks signals, and a shell that never hears SIGCHLD waits for ever.
    var mask = sigset_t()
    sigemptyset(&mask)
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    defer { close(ends[0]) }
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    var arguments: [UnsafeMutablePointer<CChar>?] = ["sh", "-c", script].map { (word: String) in strdup(word) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ)
    guard result == 0 else {
      close(ends[1])
      throw Failure(description: "/bin/sh: \(String(cString: strerror(result)))")
    }
    return (process, ends[1])
  }

  private static func isReady(_ port: UInt16, _ token: String, unless exit: URL) -> Bool {
    var isUp = false
    _ = eventually {
      isUp = (try? answers(port, token)) ?? false
      return isUp || FileManager.default.fileExists(atPath: exit.path())
    }
    return isUp
  }

  private static func answers(_ port: UInt16, _ token: String) throws -> Bool {
    let descriptor = try Loopback.connect(to: port)
    defer { close(descriptor) }
    guard Loopback.send(Array("GET /ready HTTP/1.0\r\n\r\n".utf8), to: descriptor) else { return false }
    var reply: [UInt8] = []
    while let bytes = Loopback.receive(from: descriptor) { reply += bytes }
    return String(decoding: reply, as: UTF8.self).contains(token)
  }

  private static func configuration(_ folder: String, _ port: UInt16, _ token: String) -> String {
    let statuses = [403, 404, 429, 500, 503].map { "location = /status/\($0) { return \($0) \"this is a \($0)\\n\"; }" }
    return """
      daemon off;
      master_process off;
      pid \(folder)/nginx.pid;
      error_log \(folder)/error.log warn;
      events { worker_connections 4096; }
      http {
        access_log off;
        default_type application/octet-stream;
        client_body_temp_path \(folder)/tmp/body;
        proxy_temp_path \(folder)/tmp/proxy;
        fastcgi_temp_path \(folder)/tmp/fastcgi;
        uwsgi_temp_path \(folder)/tmp/uwsgi;
        scgi_temp_path \(folder)/tmp/scgi;
        client_max_body_size 0;
        client_body_timeout 600;
        send_timeout 600;
        server {
          listen 127.0.0.1:\(port) backlog=1024;
          absolute_redirect off;
          location = /ready { return 200 \(token); }
          location /files/ { alias \(folder)/files/; }
          location /noetag/ { alias \(folder)/files/; etag off; add_header Last-Modified ""; }
          location /norange/ { alias \(folder)/files/; max_ranges 0; }
          location ~ ^/rate/(\\d+[km]?)/(.*)$ { alias \(folder)/files/$2; limit_rate $1; }
          location /slow/ {
            alias \(folder)/files/;
            set $limit_rate 16k;
            if (-f \(folder)/flags/recovered) { set $limit_rate 0; }
          }
          location /up/ { alias \(folder)/uploads/; dav_methods PUT; create_full_put_path on; }
          \(statuses.joined(separator: "\n    "))
          location /recover/ {
            alias \(folder)/files/;
            if (!-f \(folder)/flags/recovered) { return 503 "not yet\\n"; }
          }
          location ~ ^/hops/x(x+)/(.+)$ { return 302 /hops/$1/$2; }
          location ~ ^/hops/x/(.+)$ { return 302 /files/$1; }
          location /private/ {
            if ($http_authorization != "Basic bWU6cEBzcw==") { return 401; }
            alias \(folder)/files/;
          }
          location = /loop { return 302 /loop; }
          location = /to { return 302 $args; }
          location = /put { return 307 $args; }
        }
      }
      """
  }
}

/// Bytes that look random and are the same for the same seed.
package func randomBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    for index in 0..<count {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      buffer[index] = UInt8(truncatingIfNeeded: state >> 24)
    }
    filled = count
  }
}
