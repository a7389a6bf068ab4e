import Foundation

/// The living processes that have the mark of a round in their environment or in their arguments.
struct SoakProcesses {
  struct Member: CustomStringConvertible {
    let pid: pid_t
    let parent: pid_t
    let group: pid_t
    let name: String
    /// As in `ps`: R runs, S sleeps, T is stopped.
    let state: Substring
    /// Whether it is neither opdash nor its guardian, nor a child of opdash whose program has not begun.
    let isOfJob: Bool

    var description: String { "\(name) (\(pid), parent \(parent), group \(group), \(state))" }
  }

  static let variable = "SOAK_ROUND"
  private static let capacity = 16384

  let mark: String
  private let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)

  init(mark: String) { self.mark = mark }

  func free() { buffer.deallocate() }

  func living() -> [Member] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    var members: [Member] = []
    while let entry = readdir(folder) {
      let pid = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { pid_t(atoi($0)) }
      }
      if pid > 0, pid != getpid(), isMarked(pid), let member = member(pid) { members.append(member) }
    }
    return members
  }

  private func isMarked(_ pid: pid_t) -> Bool {
    let entry = "\(Self.variable)=\(mark)"
    return has(pid, "environ") { strcmp($0, entry) == 0 } || has(pid, "cmdline") { strstr($0, mark) != nil }
  }

  /// Whether one of the strings in a file of the process is as wanted.
  private func has(_ pid: pid_t, _ file: String, _ condition: (UnsafePointer<CChar>) -> Bool) -> Bool {
    let count = read(pid, file)
    var at = 0
    while at < count {
      if condition(buffer + at) { return true }
      at += strlen(buffer + at) + 1
    }
    return false
  }

  private func read(_ pid: pid_t, _ file: String) -> Int {
    let descriptor = open("/proc/\(pid)/\(file)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    let count = max(0, Foundation.read(descriptor, buffer, Self.capacity - 1))
    buffer[count] = 0
    return count
  }

  /// Whether opdash answers a signal in order: before it does, it has a handler that only kills the jobs, and SIGPIPE has
  /// its default action.
  func answers(_ pid: pid_t, _ signal: Int32) -> Bool {
    guard read(pid, "status") > 0 else { return false }
    return has(signal, "SigCgt:\t") && has(SIGPIPE, "SigIgn:\t")
  }

  private func has(_ signal: Int32, _ mask: String) -> Bool {
    guard let at = strstr(buffer, mask) else { return false }
    return strtoull(at + 8, nil, 16) & (1 << UInt64(signal - 1)) != 0
  }

  /// Nil for a zombie.
  private func member(_ pid: pid_t) -> Member? {
    guard read(pid, "stat") > 0 else { return nil }
    let text = String(cString: buffer)
    guard let begin = text.firstIndex(of: "("), let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[end...].split(separator: " ")
    guard fields.count > 3, !["Z", "X"].contains(fields[1]), let parent = pid_t(fields[2]), let group = pid_t(fields[3])
    else { return nil }
    let count = max(0, readlink("/proc/\(pid)/exe", buffer, Self.capacity - 1))
    buffer[count] = 0
    return Member(
      pid: pid, parent: parent, group: group, name: String(text[text.index(after: begin)..<end]), state: fields[1],
      isOfJob: !String(cString: buffer).hasSuffix("/opdash"))
  }
}
