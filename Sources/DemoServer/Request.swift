import Checksums
import Foundation

/// The parsed address of a request.
struct Request: Equatable {
  /// As the client sent it; faults are counted by it.
  var address: String
  /// Percent-decoded.
  var path: [String]
  var options = Options()

  /// The options in the query; see `DemoServer`.
  struct Options: Equatable {
    var size = 0
    var seed: UInt64 = 0
    var rate: Int?
    var delay: Duration = .zero
    var ranges = true
    var faults: [Fault] = []
    var times = Int.max
  }

  init(_ address: String) throws(Refusal) {
    guard let parts = URLComponents(string: address) else {
      throw Refusal(status: 400, message: "this is not an address")
    }
    self.address = address
    path = parts.path.split(separator: "/").map(String.init)
    for item in parts.queryItems ?? [] {
      if let problem = options.set(item.name, item.value ?? "") { throw Refusal(status: 400, message: problem) }
    }
  }
}

/// A request that is not served, as an HTTP status and a sentence.
struct Refusal: Error {
  var status: Int
  var message: String
}

extension Request.Options {
  /// Returns the problem; nil for a valid option.
  fileprivate mutating func set(_ name: String, _ value: String) -> String? {
    let number = Int(value) ?? -1
    guard number >= 0 || name == "hangup" || (name, value) == ("cut", "header") else {
      return "\(name) takes a number, 0 or more; this is '\(value)'"
    }
    switch name {
    case "hangup": faults.append(.hangUp)
    case "cut" where value == "header": faults.append(.cutHeader)
    case "size": size = number
    case "seed": seed = UInt64(number)
    case "rate":
      guard number > 0 else { return "rate takes bytes a second, 1 or more" }
      rate = number
    case "delay": delay = .milliseconds(number)
    case "ranges": ranges = number != 0
    case "times": times = number
    case "cut", "reset": faults.append(.cut(number, byReset: name == "reset"))
    case "stall": faults.append(.stall(.milliseconds(number)))
    case "status":
      guard (200...599).contains(number) else { return "status takes a number from 200 to 599" }
      faults.append(.status(number))
    default: return "'\(name)' is not an option of this server"
    }
    return nil
  }

  /// The delay of the header.
  func delay(with fault: Fault?) -> Duration {
    if case .stall(let time)? = fault { return max(time, delay) }
    return delay
  }

  /// The fault of request number `count` of an address, from 0: each fault in turn, `times` times.
  func fault(ofRequest count: Int) -> Fault? {
    times > 0 ? faults.dropFirst(count / times).first : nil
  }
}

/// A deliberate fault of an answer.
enum Fault: Equatable {
  /// Answers with this status only.
  case status(Int)
  /// The end of the connection after so many bytes of the body, orderly or by a reset.
  case cut(Int, byReset: Bool)
  /// The connection ends within the header.
  case cutHeader
  /// The header is delayed by this time.
  case stall(Duration)
  /// The connection is closed without an answer.
  case hangUp
}

/// The body of a request: its size and checksum, and its bytes if they are few.
struct ReceivedBody {
  /// The most bytes that are kept.
  static let kept = 32 << 20

  private(set) var size = 0
  /// Nil for a larger body.
  private(set) var bytes: [UInt8]? = []
  private let sum = SHA256Sum()

  mutating func append(_ piece: UnsafeRawBufferPointer) {
    size += piece.count
    sum.update(piece)
    if size <= Self.kept { bytes?.append(contentsOf: piece) } else { bytes = nil }
  }

  /// Lower-case hexadecimal.
  var sha256: String { sum.hex }
}
