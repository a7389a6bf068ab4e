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

  /// Fails with a sentence for the client.
  static func parse(_ address: String) -> Result<Request, BadRequest> {
    guard let parts = URLComponents(string: address) else { return .failure(BadRequest("this is no address")) }
    var request = Request(address: address, path: parts.path.split(separator: "/").map(String.init))
    for item in parts.queryItems ?? [] {
      if let problem = request.options.set(item.name, item.value ?? "") { return .failure(BadRequest(problem)) }
    }
    return .success(request)
  }
}

/// The fault of a request as a sentence.
struct BadRequest: Error, Equatable {
  var message: String

  init(_ message: String) { self.message = message }
}

extension Request.Options {
  /// Returns the fault; nil for a valid option.
  mutating func set(_ name: String, _ value: String) -> String? {
    if name == "hangup" {
      faults.append(.hangUp)
      return nil
    }
    if name == "cut", value == "header" {
      faults.append(.cutHeader)
      return nil
    }
    guard let number = Int(value), number >= 0 else { return "\(name) takes a number, 0 or more; this is '\(value)'" }
    switch name {
    case "size": size = number
    case "seed": seed = UInt64(number)
    case "rate":
      guard number > 0 else { return "rate takes bytes a second, 1 or more" }
      rate = number
    case "delay": delay = .milliseconds(number)
    case "ranges": ranges = number != 0
    case "times": times = number
    case "cut": faults.append(.cut(number))
    case "stall": faults.append(.stall(.milliseconds(number)))
    case "reset": faults.append(.reset(number))
    case "status":
      guard (200...599).contains(number) else { return "status takes a number from 200 to 599" }
      faults.append(.status(number))
    default: return "'\(name)' is no option of this server"
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
    guard !faults.isEmpty, times > 0 else { return nil }
    let index = count / times
    return index < faults.count ? faults[index] : nil
  }
}

/// A deliberate fault of an answer.
enum Fault: Equatable {
  /// This status in place of the answer.
  case status(Int)
  /// An orderly end of the connection after so many bytes of the body.
  case cut(Int)
  /// A reset of the connection after so many bytes of the body.
  case reset(Int)
  /// The connection ends within the header.
  case cutHeader
  /// The header is delayed by this time.
  case stall(Duration)
  /// The connection is closed without an answer.
  case hangUp
}
