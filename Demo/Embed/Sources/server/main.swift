// A program without a screen whose queue `opdash attach` shows: a small server that answers each connection from an
// OperationQueue. Try it with
//
//     swift run server 8099 &
//     opdash attach            # in another terminal: the queue, while it works
//     curl -s http://127.0.0.1:8099/ http://127.0.0.1:8099/slow http://127.0.0.1:8099/blocking
//
// On `blocking`, `b` shows where its thread stands.

import OperationDashboard

/// One connection: reads the request, works for as long as its path says, and answers.
final class Answer: AsyncOperation, @unchecked Sendable {
  // Safe: constants, and AsyncOperation is safe itself.
  private let connection: FileHandle
  private let time: DispatchTimeInterval
  private let blocks: Bool

  init(_ connection: FileHandle) {
    self.connection = connection
    let request = String(decoding: connection.availableData, as: UTF8.self)
    let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
    blocks = path.hasSuffix("blocking")
    time = path.hasSuffix("slow") ? .seconds(5) : .milliseconds(200)
    super.init()
    name = path
  }

  override func main() {
    log("answering")
    if blocks { waitForABackend() }
    DispatchQueue.global().asyncAfter(deadline: .now() + time) {
      self.answer(self.isCancelled ? "503 Service Unavailable" : "200 OK")
    }
  }

  /// A mistake: the thread is blocked meanwhile.
  @inline(never) private func waitForABackend() { Thread.sleep(forTimeInterval: 20) }

  private func answer(_ status: String) {
    try? connection.write(contentsOf: Data("HTTP/1.0 \(status)\r\nContent-Length: 3\r\n\r\nok\n".utf8))
    try? connection.close()
    finish()
  }
}

/// A socket on the loopback interface that accepts connections.
func listen(on port: UInt16) -> Int32? {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var on: Int32 = 1
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, 4)
  var address = sockaddr_in()
  (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
  address.sin_addr.s_addr = inet_addr("127.0.0.1")
  let isBound = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
  return isBound && listen(listener, 64) == 0 ? listener : nil
}

signal(SIGPIPE, SIG_IGN)
guard let port = UInt16(CommandLine.arguments.dropFirst().first ?? "8099"), let listener = listen(on: port) else {
  print("usage: server [PORT], a port of this machine that is free")
  exit(2)
}

let queue = DelegatedOperationQueue()
queue.name = "answers"
queue.maxConcurrentOperationCount = 2

// Nothing is observed until a program attaches itself.
let service = try Dashboard(observing: queue).serve()
print("http://127.0.0.1:\(port)/ answers; opdash attach \(getpid()) shows its queue")
fflush(nil)

let accepting = DispatchSource.makeReadSource(fileDescriptor: listener, queue: .main)
accepting.setEventHandler {
  let connection = accept(listener, nil, nil)
  guard connection >= 0 else { return }
  // A client that is slow to ask must not hold up the others.
  DispatchQueue.global().async {
    queue.addOperation(Answer(FileHandle(fileDescriptor: connection, closeOnDealloc: true)))
  }
}
accepting.resume()
withExtendedLifetime(service) { dispatchMain() }
