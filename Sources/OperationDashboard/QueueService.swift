import Foundation
import Remote
import Session

extension Dashboard {
  /// Lets `opdash attach` show the queue, and act on it, until the service is stopped or released.
  ///
  /// Only programs of the same user can attach themselves. Without a screen of its own, a program needs nothing else: it
  /// doesn't call `run()`. Then the queue is observed only while a program is attached, which sees the operations that are
  /// in the queue from that moment; otherwise the operations cost nothing. A person who stops the run cancels the operations
  /// that are in the queue then. Throws `ServiceError` if no socket can be made. May be called from any thread.
  public func serve() throws -> Service { try serve(in: Service.folders) }

  func serve(in folders: [String]) throws -> Service {
    let service = try Service(observed, in: folders)
    if !isShown { observed.rest() }
    return service
  }

  /// The socket over which programs of the same user attach themselves to the queue; see `serve()`.
  public final class Service: Sendable {
    private let server: RunServer

    /// The path of the socket, in a folder that only this user can reach.
    public let path: String

    /// Listens in the first of the folders that takes a socket.
    init(_ observed: ObservedQueue, in folders: [String]) throws(ServiceError) {
      var greeting = Greeting(
        pid: getpid(), run: "", name: observed.name, place: FileManager.default.currentDirectoryPath)
      (greeting.isQueue, greeting.startedAt) = (true, Date())
      do {
        server = try RunServer.inFirst(of: folders, observed, greeting) { observed.describe(in: &$0) }
      } catch {
        throw ServiceError(description: "\(error)")
      }
      path = server.path
    }

    /// The folders that `opdash attach` searches for sockets.
    static var folders: [String] {
      let environment = Environment.current()
      return SocketFolder.paths(
        runtimeFolder: environment.runtimeFolder, stateFolder: environment.stateFolder(Settings()))
    }

    deinit { stop() }

    /// Removes the socket and ends the connections of attached programs; the operations are not affected.
    public func stop() { server.finish() }
  }

  /// Why a queue can't be served.
  public struct ServiceError: LocalizedError, CustomStringConvertible, Sendable, Equatable {
    /// A sentence with the cause and the remedy.
    public let description: String

    /// The same sentence as `description`.
    public var errorDescription: String? { description }
  }
}
