import Foundation
import Support
import Testing

@testable import Remote

@Suite struct SocketFolderTests {
  @Test func aPathLongerThanASocketsIsNoObstacle() throws {
    let folder = try TemporaryFolder()
    let path =
      "\(folder.url.path())/" + (0..<12).map { _ in String(repeating: "long", count: 10) }.joined(separator: "/")
    let sockets = try #require(try SocketFolder(path, makes: true))
    let listener = try sockets.listen()
    #expect(sockets.names.count == 1)
    let (descriptor, pid) = try #require(try sockets.connect(to: sockets.names[0]))
    #expect(pid == getpid())
    close(descriptor)
    close(listener.descriptor)
  }

  @Test func aSocketIsItsOwnersAlone() throws {
    let folder = try TemporaryFolder()
    let sockets = try #require(try SocketFolder(folder.url.path(percentEncoded: false) + "/live", makes: true))
    let listener = try sockets.listen()
    var status = stat()
    #expect(lstat(listener.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    close(listener.descriptor)
  }

  @Test func theSocketOfADeadProgramIsRemoved() throws {
    let folder = try TemporaryFolder()
    let sockets = try #require(try SocketFolder(folder.url.path() + "/live", makes: true))
    let listener = try sockets.listen()
    close(listener.descriptor)
    // Its program lives: it may be about to listen.
    #expect(RemoteProgram.all(in: [sockets.path]).programs.isEmpty)
    #expect(sockets.names == ["\(getpid())@\(SocketFolder.place)"])
    let child = try ChildProcess(["true"])
    _ = child.ending(waiting: true)
    #expect(rename(listener.path, "\(sockets.path)/\(child.pid).2@\(SocketFolder.place)") == 0)
    #expect(RemoteProgram.all(in: [sockets.path]).programs.isEmpty)
    #expect(sockets.names.isEmpty && folder.names(in: "live").isEmpty)
  }

  @Test func theSocketsOfAnotherBootOrContainerAreLeftAlone() throws {
    let folder = try TemporaryFolder()
    let sockets = try #require(try SocketFolder(folder.url.path() + "/live", makes: true))
    let listener = try sockets.listen()
    close(listener.descriptor)
    var host = [CChar](repeating: 0, count: 65)
    gethostname(&host, host.count - 1)
    // In the manner of earlier versions, of another boot, of another container, and no socket of a process.
    let place = SocketFolder.place
    let machine = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let others = ["999999@\(machine)", "999999@another-boot.4026531836", "999999@\(place)0", "x@\(place)"]
    for other in others { #expect(link(listener.path, "\(sockets.path)/\(other)") == 0) }
    unlink(listener.path)
    #expect(sockets.names == [])
    #expect(RemoteProgram.all(in: [sockets.path]).programs.isEmpty)
    for other in others { #expect(try sockets.connect(to: other) == nil) }
    #expect(Set(folder.names(in: "live")) == Set(others))
    #expect(place.contains(".") && !place.hasPrefix("."))
  }

  @Test func aSocketWhoseNameIsTooLongLeavesNoDescriptorOpen() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let folder = try TemporaryFolder()
      let sockets = try #require(try SocketFolder(folder.url.path() + "/live", makes: true))
      for _ in 0..<100 {
        #expect(throws: RemoteError.system("connect", ENAMETOOLONG)) {
          try sockets.connect(to: String(repeating: "1", count: 200))
        }
      }
    }
  }

  @Test func aFolderThatOthersCanReachIsRefused() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path() + "/open"
    mkdir(path, 0o755)
    chmod(path, 0o755)
    #expect(throws: RemoteError.folder(path, reason: "others can reach it: chmod 700 makes it private")) {
      try SocketFolder(path, makes: true)
    }
    #expect(try SocketFolder(folder.url.path() + "/none", makes: false) == nil)
    symlink(folder.url.path(), path + "-link")
    #expect(throws: RemoteError.self) { try SocketFolder(path + "-link", makes: true) }
  }

  @Test func aProgramThatSaysNothingIsNamed() throws {
    let folder = try TemporaryFolder()
    let sockets = try #require(try SocketFolder(folder.url.path() + "/live", makes: true))
    let listener = try sockets.listen()
    let found = RemoteProgram.all(in: [sockets.path], patience: .milliseconds(20))
    #expect(found.programs.isEmpty && found.problems == [.silent(pid: getpid())])
    close(listener.descriptor)
  }

  @Test func theFirstChoiceIsTheFolderOfTheSession() {
    #expect(SocketFolder.paths(runtimeFolder: "/run/user/1", stateFolder: "/s") == ["/run/user/1/opdash", "/s/live"])
    #expect(SocketFolder.paths(runtimeFolder: nil, stateFolder: nil).isEmpty)
  }
}
