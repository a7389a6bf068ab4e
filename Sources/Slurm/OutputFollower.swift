import Foundation
import Operations
import Processes

/// Logs the output file of a job as it grows.
///
/// A shared file system does not notify of changes, so the file is polled: four times a second at first and after new
/// output, and at growing intervals while there is none. Where the program may not be silent for long, the intervals
/// stay a small part of that time. Each poll opens the file, because only then does a network file system show data
/// from other machines.
final class OutputFollower: @unchecked Sendable {
  // Safe: the variables are used on `queue` only.
  private let path: String
  private let clock: any OperationClock
  private let operation: AsyncOperation
  private let file: LogFile?
  private let output: ShellOutput
  private let queue: DispatchQueue
  private let longest: Duration
  private var mask: SecretMask.Stream?
  private var offset: off_t = 0
  private var timer: (any OperationTimer)?
  private var interval = OutputFollower.shortest
  private var began: Duration?
  private var ended: Duration?
  private var nodes = ""
  private var isToldInvisible = false
  /// Whether the chunk that was read last has not been consumed.
  private var isHeld = false
  private var end: End?

  private struct End {
    var hasSucceeded: Bool
    var body: @Sendable (_ isKept: Bool) -> Void
  }

  /// A file system that hangs blocks a thread: these few serve all jobs.
  private static let queues = (1...2).map { DispatchQueue(label: "opdash.slurm.output.\($0)", qos: .userInitiated) }
  private static let shortest = Duration.milliseconds(250)
  private static let longest = Duration.seconds(4)
  /// How many polls there are at least in the time that the program may be silent.
  private static let pollsInSilence = 16
  /// How long the file of a running job may be missing before a note says so: network file systems can take a minute.
  private static let patience = Duration.seconds(30)
  /// How long to wait for the file of a job that has ended: most file systems show it within three seconds.
  private static let lastPatience = Duration.seconds(3)
  private static let chunk = 64 << 10

  /// Creates a follower that keeps the output in `file`, without secrets.
  ///
  /// `progress` and `watches` are as in a `ShellOutput`. The program may write nothing for `silence`.
  init(
    path: String, secrets: SecretMask?, for operation: AsyncOperation, file: LogFile? = nil, keepsShort: Bool = true,
    progress: String? = nil, watches: [OutputWatch] = [], silence: Duration? = nil, clock: any OperationClock
  ) {
    self.path = path
    self.clock = clock
    self.operation = operation
    self.file = file
    longest = silence.map { min(Self.longest, max(Self.shortest, $0 / Self.pollsInSilence)) } ?? Self.longest
    output = ShellOutput(file: file, keepsShort: keepsShort, progress: progress, watches: watches, clock: clock)
    mask = secrets.map { SecretMask.Stream($0) }
    queue = DispatchQueue(
      label: "opdash.slurm.output", target: Self.queues[Int(UInt(bitPattern: path.hashValue) % UInt(Self.queues.count))]
    )
  }

  /// Begins polling; callable from any thread, any number of times.
  func start(on nodes: String) {
    queue.async { [self] in
      guard began == nil, end == nil else { return }
      began = clock.now
      self.nodes = nodes
      read()
    }
  }

  /// Logs the rest and calls `body` with whether the log file, if there is one, contains all of the output.
  func finish(
    on nodes: String, hasSucceeded: Bool, mayBeAbsent: Bool, _ body: @escaping @Sendable (_ isKept: Bool) -> Void
  ) {
    queue.async { [self] in
      if !nodes.isEmpty { self.nodes = nodes }
      ended = clock.now
      interval = Self.shortest
      if mayBeAbsent { isToldInvisible = true }
      end = End(hasSucceeded: hasSucceeded, body: body)
      timer?.cancel()
      timer = nil
      read()
    }
  }

  private func read() {
    guard !isHeld else { return }
    guard let descriptor = try? ForeignFile.open(path, .own) else { return noNews(isAbsent: true) }
    defer { _ = close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, Self.chunk, offset))
    }
    guard !bytes.isEmpty else { return noNews(isAbsent: FileStatus(descriptor)?.value.st_size ?? 0 < offset) }
    offset += off_t(bytes.count)
    interval = Self.shortest
    isHeld = true
    take(mask?.mask(bytes) ?? bytes) { [self] in
      queue.async {
        self.isHeld = false
        self.read()
      }
    }
  }

  private func take(_ bytes: [UInt8], consumed: @escaping @Sendable () -> Void) {
    if bytes.isEmpty { consumed() } else { output.take(bytes, from: .stdout, for: operation, consumed: consumed) }
  }

  /// Handles a poll without new output; `isAbsent` is true if the file is missing or shorter than before.
  private func noNews(isAbsent: Bool) {
    if isAbsent { tellInvisible() }
    guard let end, !isAbsent || isToldInvisible else { return lookLater() }
    self.end = nil
    take(mask?.end() ?? []) {}
    output.finish(for: operation, hasSucceeded: end.hasSucceeded) { [self] in end.body(file?.isWhole == true) }
  }

  private func lookLater() {
    guard timer == nil else { return }
    timer = clock.schedule(after: interval, on: queue) { [self] in
      timer = nil
      read()
    }
    interval = min(interval * 2, longest)
  }

  private func tellInvisible() {
    let isLate =
      ended.map { clock.now - $0 >= Self.lastPatience } ?? began.map { clock.now - $0 >= Self.patience } ?? false
    guard !isToldInvisible, isLate else { return }
    isToldInvisible = true
    let place = nodes.isEmpty ? "" : " on \(nodes)"
    let text =
      offset > 0
      ? "the output file \(path) is gone: the later output of the program is lost"
      : "the output is not visible from here: it is in \(path)\(place); "
        + "have the run recorded in a folder that the cluster's nodes share"
    operation.log([OperationLogLine(text: text, source: .note)])
  }
}
