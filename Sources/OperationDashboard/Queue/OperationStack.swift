import Basics
import CProcess
import Foundation

/// The calls of the threads that execute an operation, from the unwind tables and the symbols.
enum OperationStack {
  struct Call: Sendable {
    let function: String
    /// The file that has the function, without its folders.
    let place: String?
  }

  /// A thread and its calls, innermost first, down to the one that began the operation.
  struct Thread {
    let id: Int32
    let calls: [Call]
  }

  /// There is one copy of the process at a time.
  private static let turn = Lock(())

  /// The threads and their calls in words, or why there are none.
  static func lines(of operation: Operation) -> [String] {
    do {
      let threads = try read(of: operation)
      guard !threads.isEmpty else {
        return ["no thread stands in it: its start() has returned, and it waits for an event"]
      }
      return threads.flatMap { ["thread \($0.id) stands in, innermost call first:"] + $0.calls.map { "  \($0)" } }
    } catch {
      let reason =
        switch error.code {
        case .EOPNOTSUPP: "that needs x86-64, and a build without a sanitizer"
        case .EPERM, .EACCES: "a debugger is attached, or the system does not allow ptrace"
        default: String(cString: strerror(error.code.rawValue))
        }
      return ["where it stands can't be read: \(reason)"]
    }
  }

  /// Reads the threads of this process that stand in the operation; none if its `start()` has returned.
  ///
  /// Throws where the system does not allow to stop a thread.
  static func read(of operation: Operation) throws(POSIXError) -> [Thread] {
    try stacks(holding: operation).compactMap { stack in
      var calls: [Call] = []
      for (number, address) in stack.calls.enumerated() {
        // A call returns behind itself, which may be in the next function.
        let symbol = Symbol(number == 0 ? address : address - 1)
        // A thunk only converts arguments.
        if !symbol.name.hasSuffix("TR") { calls.append(symbol.call) }
        if stack.holds[number], isBeginning(symbol.name) { return Thread(id: stack.thread, calls: calls) }
      }
      return nil
    }
  }

  /// Whether a function of this mangled name begins the operation that it holds.
  private static func isBeginning(_ name: String) -> Bool {
    name.hasSuffix("C5startyyF") || name == "$s10Operations14AsyncOperationC5beginyyF"
      || name.hasPrefix("$s10Foundation14OperationQueueC9_schedule")
  }

  // MARK: Addresses

  private struct Stack {
    let thread: Int32
    let calls: [UInt]
    /// Whether the frame of each call holds the operation.
    let holds: [Bool]
  }

  /// The most threads, and the longest time in milliseconds.
  private static let (limit, patience) = (16, Int32(10_000))

  private static func stacks(holding operation: Operation) throws(POSIXError) -> [Stack] {
    let found = UnsafeMutableBufferPointer<cprocess_stack>.allocate(capacity: limit)
    defer { found.deallocate() }
    let object = Unmanaged.passUnretained(operation).toOpaque()
    let (count, failure) = turn.withLock { _ in
      (cprocess_find_stacks(object, found.baseAddress, Int32(limit), patience), errno)
    }
    guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EPERM) }
    return found.prefix(Int(count)).map { stack in
      Stack(
        thread: stack.thread,
        calls: withUnsafeBytes(of: stack.calls) { Array($0.bindMemory(to: UInt.self).prefix(Int(stack.count))) },
        holds: withUnsafeBytes(of: stack.holds) { Array($0.bindMemory(to: Bool.self).prefix(Int(stack.count))) })
    }
  }

  // MARK: Names

  private struct Symbol {
    /// The mangled name.
    let name: String
    private let file: String

    init(_ address: UInt) {
      var (name, file) = ([CChar](repeating: 0, count: 4096), [CChar](repeating: 0, count: 256))
      cprocess_find_function(address, &name, name.count, &file, file.count)
      (self.name, self.file) = (Self.text(name), Self.text(file))
    }

    var call: Call { Call(function: Self.demangled(name), place: file.isEmpty ? nil : file) }

    private static func text(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static let limit = 200

    private static func demangled(_ name: String) -> String {
      guard let text = swift_demangle(name, name.utf8.count, nil, nil, 0) else { return name }
      defer { free(text) }
      // `… specialization <…> of` the function; a private one as `(name in _0123CDEF)`.
      let function = String(cString: text).components(separatedBy: "> of ").last ?? name
      let short = function.replacing(#/\((\w+) in _[0-9A-F]+\)/#) { "\($0.output.1)" }.replacing(" -> ()", with: "")
      // Generic functions may have names of many kilobytes.
      return short.count > limit ? "\(short.prefix(limit))…" : short
    }
  }
}

extension OperationStack.Call: CustomStringConvertible {
  var description: String { place.map { "\(function) (\($0))" } ?? function }
}
