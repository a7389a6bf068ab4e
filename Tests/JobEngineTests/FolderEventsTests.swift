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
    #expect(try events.add(root))
    #expect(try events.add(root) == false)
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

  @Test func theNearestFolderIsWatchedForOneThatDoesNotExist() throws {
    let events = try FolderEvents(on: queue) {}
    #expect(try events.add(path("x/y")))
    #expect(try events.add(root) == false)
    try FileManager.default.createDirectory(at: folder.file("x/y"), withIntermediateDirectories: true)
    #expect(changed(events, path("x"), isFolder: true))
    #expect(try events.add(path("x/y")))
    // One that has gone and come again is another folder.
    try FileManager.default.removeItem(at: folder.file("x/y"))
    #expect(changed(events, path("x/y"), isFolder: true))
    try FileManager.default.createDirectory(at: folder.file("x/y"), withIntermediateDirectories: true)
    #expect(eventually { (try? events.add(path("x/y"))) == true || queue.sync { events.take() }.isEmpty == false })
  }

  @Test func aLimitOfTheSystemIsNamedWithItsMend() {
    #expect(
      WatchFault(ENOSPC, limit: "max_user_watches").description
        == "inputs are not watched: No space left on device; raise fs.inotify.max_user_watches by sysctl, or leave "
        + "folders out with watch.ignore")
    #expect(WatchFault(ENOENT, limit: "x").description == "inputs are not watched: No such file or directory")
  }
}
