import Basics
import Dispatch
import Foundation
import Support
import Testing

@testable import JobEngine

struct FolderEventsTests {
  private let folder: TemporaryFolder
  private let queue = DispatchQueue(label: "test")

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> BytePath {
    BytePath(folder.url.standardizedFileURL.path(percentEncoded: false) + "/" + name)
  }

  private var root: BytePath { path("").folder }

  private func changed(_ events: FolderEvents, _ wanted: BytePath, isFolder wantsFolder: Bool = false) -> Bool {
    eventually {
      queue.sync { events.take() }.contains { event in
        guard case .changed(let path, let isFolder) = event else { return false }
        return path == wanted && isFolder == wantsFolder
      }
    }
  }

  @Test func aNewAWrittenAndARemovedFileAreChanges() throws {
    let events = try FolderEvents(on: queue) {}
    #expect(try events.watch([root], names: []))
    #expect(try events.watch([root], names: []) == false)
    try Data().write(to: folder.file("a"))
    #expect(changed(events, path("a")))
    let file = try FileHandle(forWritingTo: folder.file("a"))
    try file.write(contentsOf: Data("x".utf8))
    // It is open yet.
    #expect(changed(events, path("a")))
    try FileManager.default.removeItem(at: folder.file("a"))
    #expect(changed(events, path("a")))
    try FileManager.default.createDirectory(at: folder.file("d"), withIntermediateDirectories: false)
    #expect(changed(events, path("d"), isFolder: true))
  }

  /// Watches a folder and the way to it.
  private func watch(_ name: String, _ events: FolderEvents) throws -> Bool {
    var trail = PathTrail()
    trail.add(folder: path(name))
    return try events.watch(trail.folders, names: Set(trail.names.map(\.folder)))
  }

  @Test func theWayIsWatchedToAFolderThatDoesNotExist() throws {
    let events = try FolderEvents(on: queue) {}
    #expect(try watch("x/y", events))
    #expect(try watch("x/y", events) == false)
    try FileManager.default.createDirectory(at: folder.file("x/y"), withIntermediateDirectories: true)
    #expect(changed(events, path("x"), isFolder: true))
    #expect(try watch("x/y", events))
    // One that has gone and come again is another folder.
    try FileManager.default.removeItem(at: folder.file("x/y"))
    #expect(changed(events, path("x/y"), isFolder: true))
    try FileManager.default.createDirectory(at: folder.file("x/y"), withIntermediateDirectories: true)
    #expect(try watch("x/y", events))
  }

  @Test func aFolderBelowOneThatWasReplacedIsWatchedAgain() throws {
    let events = try FolderEvents(on: queue) {}
    try FileManager.default.createDirectory(at: folder.file("x/y"), withIntermediateDirectories: true)
    #expect(try watch("x/y", events))
    #expect(rename(folder.file("x").path(), folder.file("old").path()) == 0)
    #expect(changed(events, path("x"), isFolder: true))
    try FileManager.default.createDirectory(at: folder.file("x/y"), withIntermediateDirectories: true)
    #expect(try watch("x/y", events))
    try Data().write(to: folder.file("x/y/a"))
    #expect(changed(events, path("x/y/a")))
  }

  @Test func aFolderIsWatchedByEachOfItsPaths() throws {
    let events = try FolderEvents(on: queue) {}
    try FileManager.default.createDirectory(at: folder.file("x"), withIntermediateDirectories: true)
    #expect(symlink("x", folder.file("link").path()) == 0)
    #expect(try events.watch([path("x"), path("link")], names: []))
    try Data().write(to: folder.file("x/a"))
    let found = Lock(Set<BytePath>())
    #expect(
      eventually {
        for case .changed(let path, _) in queue.sync(execute: { events.take() }) {
          found.withLock { _ = $0.insert(path) }
        }
        return found.withLock(\.self) == [path("x/a"), path("link/a")]
      })
  }

  @Test func aTrailHasTheNamesThatALinkLeadsThrough() throws {
    try FileManager.default.createDirectory(at: folder.file("real/s"), withIntermediateDirectories: true)
    #expect(symlink("real", folder.file("a").path()) == 0)
    #expect(symlink(path("a").text, folder.file("b").path()) == 0)
    #expect(symlink("./loop", folder.file("loop").path()) == 0)
    var trail = PathTrail()
    for name in ["b/s/f", "loop/f"] { trail.add(path(name)) }
    #expect(trail.names.isSuperset(of: ["b", "b/s", "b/s/f", "a", "real", "loop"].map(path) + [root]))
    #expect(trail.folders.contains(root) && !trail.folders.contains(path("b/s")))
    #expect(trail.names.count < 1000)
  }

  @Test func aLimitOfTheSystemIsNamedWithItsMend() {
    #expect(
      WatchFault(ENOSPC, limit: "max_user_watches").description
        == "inputs are not watched: No space left on device; raise fs.inotify.max_user_watches by sysctl, or leave "
        + "folders out with watch.ignore")
    #expect(WatchFault(ENOENT, limit: "x").description == "inputs are not watched: No such file or directory")
  }
}
