import Foundation
import Remote
import Session

extension Dashboard {
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
