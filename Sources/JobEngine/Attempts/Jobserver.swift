import Basics
import Dispatch
import Foundation
import JobModel

/// Shares the slots of a run with the programs of its jobs by the protocol of make: a pipe holds a token for each slot that
/// is free; a program takes one before it starts a second process, and gives it back.
///
/// An attempt has a slot, and with it a token that is in no pipe. Where a make executes this program, the pipe is make's.
/// Confined to the engine's queue.
final class Jobserver {
  /// Where programs read and write tokens.
  let descriptors: [Int32]
  /// How many attempts may be in slots: the tokens that are neither in the pipe nor with a program.
  private(set) var held: Int

  /// The slots that tokens were made for; nil for the tokens of a make.
  private var slots: Int?
  private let path: String
  /// The flags that programs get besides the jobserver's.
  private let flags: MakeFlags
  /// Where tokens are taken, without waiting for one.
  private let tokens: Int32
  /// The tokens of a make, to be given back as they were.
  private var taken: [UInt8] = []
  private let source: any DispatchSourceRead
  private var isWaiting = false
  private var isClosed = false

  private static let token = UInt8(ascii: "+")
  /// Above 3 and 4, the numbers in a program.
  private static let leastDescriptor: Int32 = 16

  /// Makes a FIFO at `path`; `whenFree` is called on `queue` when there is a token that was waited for.
  convenience init(
    slots: Int, path: String, flags: MakeFlags, queue: DispatchQueue, whenFree: @escaping @Sendable () -> Void
  ) throws(RunFolderError) {
    func failure() -> RunFolderError { RunFolderError(path: path, reason: String(cString: strerror(errno))) }
    guard mkfifo(path, 0o600) == 0 else { throw failure() }
    // The first one for both ways, because the others would wait for it.
    let opened = [O_RDWR | O_NONBLOCK, O_RDONLY, O_WRONLY].map { Self.raised(open(path, $0 | O_CLOEXEC)) }
    guard opened.allSatisfy({ $0 >= 0 }) else {
      let failure = failure()
      for descriptor in opened where descriptor >= 0 { Foundation.close(descriptor) }
      unlink(path)
      throw failure
    }
    self.init(slots: slots, path: path, flags: flags, opened, queue, whenFree)
  }

  /// Takes part in the jobserver of a make; nil if it can't be used.
  convenience init?(
    of make: MakeFlags.Jobserver, flags: MakeFlags, queue: DispatchQueue, whenFree: @escaping @Sendable () -> Void
  ) {
    let (reader, writer): (Int32, Int32)
    switch make {
    case .descriptors(let first, let second):
      (reader, writer) = (Self.raised(dup(first)), Self.raised(dup(second)))
    case .fifo(let path):
      // Not for reading alone, which would wait for a make that has ended.
      reader = Self.raised(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC))
      writer = Self.raised(dup(reader))
    }
    let path = "/proc/\(getpid())/fd/\(reader)"
    // Opened again, because the mode of an open file is shared with make.
    let tokens = Self.raised(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
    let opened = [tokens, reader, writer]
    guard opened.allSatisfy({ $0 >= 0 }) else {
      for descriptor in opened where descriptor >= 0 { Foundation.close(descriptor) }
      return nil
    }
    self.init(slots: nil, path: path, flags: flags, opened, queue, whenFree)
  }

  private init(
    slots: Int?, path: String, flags: MakeFlags, _ opened: [Int32], _ queue: DispatchQueue,
    _ whenFree: @escaping @Sendable () -> Void
  ) {
    (self.slots, self.path, self.flags) = (slots, path, flags)
    // Of a make's tokens it has the one of the rule that executes it.
    held = slots ?? 1
    tokens = opened[0]
    descriptors = Array(opened[1...])
    source = DispatchSource.makeReadSource(fileDescriptor: tokens, queue: queue)
    source.setEventHandler(handler: whenFree)
    source.setCancelHandler { for descriptor in opened { Foundation.close(descriptor) } }
  }

  deinit { close() }

  /// Gives back the tokens of a make, and removes the FIFO.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    if slots == nil { give(held - 1) } else { unlink(path) }
    if !isWaiting { source.resume() }
    source.cancel()
  }

  /// The same descriptor with a number that no program uses.
  private static func raised(_ descriptor: Int32) -> Int32 {
    guard descriptor >= 0, descriptor < leastDescriptor else { return descriptor }
    defer { Foundation.close(descriptor) }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, leastDescriptor)
  }

  /// The variables of a program; `own` are its flags, if the job has some.
  func variables(_ form: ShellWork.Jobserver, own: String?, jobs: Int) -> [String: String] {
    // As `ProcessLaunch.descriptors` says.
    let place: MakeFlags.Jobserver = form == .fifo ? .fifo(path) : .descriptors(3, 4)
    let flags = (own.map { MakeFlags($0.utf8) } ?? flags).with(place, jobs: jobs)
    let text = String(decoding: flags.bytes, as: UTF8.self)
    return ["MAKEFLAGS": text, "CARGO_MAKEFLAGS": text]
  }

  // MARK: Tokens

  /// Takes the tokens for so many attempts, or waits for them, and gives the others back.
  func balance(wanted: Int, slots limit: Int) {
    if let slots {
      // More attempts than slots may be in progress after a slot was removed.
      held += limit - slots
      self.slots = limit
    }
    let target = max(1, min(limit, wanted))
    if held > target { give(held - target) } else { take(target - held) }
    wait(held < target)
  }

  /// Counts the tokens anew while no program can have one: a program that is killed gives none back.
  func recount() {
    guard let slots else { return }
    while take(1 << 12) > 0 {}
    held = slots
  }

  private func give(_ count: Int) {
    guard count > 0 else { return }
    var bytes = [UInt8](repeating: Self.token, count: count)
    if slots == nil {
      bytes = Array(taken.suffix(count))
      taken.removeLast(bytes.count)
    }
    // A FIFO holds 65,536 bytes; further tokens stay here.
    let written = bytes.isEmpty ? 0 : write(slots == nil ? descriptors[1] : tokens, bytes, bytes.count)
    held -= max(0, written)
  }

  @discardableResult
  private func take(_ count: Int) -> Int {
    guard count > 0 else { return 0 }
    var bytes = [UInt8](repeating: 0, count: count)
    let number = max(0, read(tokens, &bytes, count))
    if slots == nil { taken += bytes.prefix(number) }
    held += number
    return number
  }

  private func wait(_ isNeeded: Bool) {
    guard isNeeded != isWaiting else { return }
    isWaiting = isNeeded
    if isNeeded { source.resume() } else { source.suspend() }
  }
}
