import Basics
import Testing

@testable import JobEngine

struct PathPatternTests {
  private func reaches(_ pattern: String, _ path: String, isFolder: Bool = false) -> Bool {
    PathPattern(BytePath(pattern)).reaches(BytePath(path), isFolder: isFolder)
  }

  @Test(arguments: [
    ("/p/a.c", "/p/a.c", true), ("/p/a.c", "/p/b.c", false), ("/p/src", "/p/src/deep/a.c", true),
    ("/p/src", "/p/srcs", false), ("/p/*.c", "/p/a.c", true), ("/p/*.c", "/p/d/a.c", false),
    ("/p/*.c", "/p/a.c/x", false), ("/p/**/*.c", "/p/a.c", true), ("/p/**/*.c", "/p/x/y/a.c", true),
    ("/p/**/*.c", "/q/a.c", false), ("/p/**", "/p/x/y", true), ("/p/**", "/p", false), ("/p/*/m.h", "/p/x/m.h", true),
  ])
  func aPathIsReachedByItselfAFolderAroundItOrAPattern(pattern: String, path: String, isReached: Bool) {
    #expect(reaches(pattern, path) == isReached)
  }

  @Test(arguments: [
    ("/p/src/a.c", "/p", true), ("/p/src/*.c", "/p/src", true), ("/p/src/*.c", "/p/lib", false),
    ("/p/**/*.c", "/p/any/where", true), ("/p/a.c", "/p/a.c", true),
  ])
  func aFolderIsReachedIfAFileInItCouldBe(pattern: String, folder: String, isReached: Bool) {
    #expect(reaches(pattern, folder, isFolder: true) == isReached)
    #expect(reaches(pattern, folder) == (pattern == folder))
  }
}
