import Basics
import Testing

@testable import JobEngine

/// Which inputs the paths reach that jobs would create.
struct ChangedPathsTests {
  private func reaches(_ input: String, _ created: String..., isFolder: Bool = false) -> Bool {
    var changed = ChangedPaths()
    for path in created { changed.add(BytePath(path), isFolder: isFolder) }
    return changed.reaches(BytePath(input))
  }

  @Test(arguments: [
    "/w/out/a.o", "/w/out", "/w", "/w/out/a.o/x", "/w/*/a.o", "/w/**", "/**/*.o", "/w/out/?.o", "/w/o*/**/*.o",
  ])
  func anInputIsReachedByWhatIsCreatedAtInOrAroundIt(input: String) {
    #expect(reaches(input, "/w/none", "/w/out/a.o"))
  }

  @Test(arguments: ["/w/out/b.o", "/w/src", "/w/ou", "/w/*.o", "/w/out/*.c", "/w/src/**", "/w/**/*.c"])
  func anotherInputIsNotReached(input: String) {
    #expect(!reaches(input, "/w/out/a.o"))
    #expect(!reaches(input))
  }

  @Test func aFolderThatIsCreatedReachesThePatternsThatSearchIt() {
    for input in ["/w/out/**/*.o", "/w/out/*.o", "/w/*/x/y", "/**/a"] {
      #expect(reaches(input, "/w/out", isFolder: true))
    }
    #expect(!reaches("/w/*.o", "/w/out", isFolder: true))
  }

  @Test func pathsThatAreTooManyToBeSearchedAreAllReached() {
    var changed = ChangedPaths()
    for number in 0..<1000 { changed.add(BytePath("/w/\(number).o"), isFolder: false) }
    #expect(!changed.reaches(BytePath("/w/*.c")))
    changed.add(BytePath("/w/1000.o"), isFolder: false)
    #expect(changed.reaches(BytePath("/w/*.c")))
  }
}
