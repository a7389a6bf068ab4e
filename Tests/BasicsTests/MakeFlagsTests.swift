import Testing

@testable import Basics

struct MakeFlagsTests {
  private func flags(_ text: String) -> MakeFlags { MakeFlags(text.utf8) }

  private func text(_ flags: MakeFlags) -> String { String(decoding: flags.bytes, as: UTF8.self) }

  private static let jobservers: [(String, MakeFlags.Jobserver?)] = [
    ("", nil), ("k", nil), (" -j4 --jobserver-auth=3,4", .descriptors(3, 4)),
    ("k -j --jobserver-auth=fifo:/tmp/a,b", .fifo("/tmp/a,b")),
    ("--jobserver-auth=3,4 --jobserver-auth=5,6", .descriptors(5, 6)),
    // As make writes for a program that must not use it.
    ("--jobserver-auth=-2,-2", nil), ("--jobserver-auth=3", nil), ("--jobserver-auth=x,4", nil),
    ("-- --jobserver-auth=3,4", nil),
  ]

  @Test(arguments: jobservers)
  func theLastJobserverCounts(_ text: String, _ jobserver: MakeFlags.Jobserver?) {
    #expect(flags(text).jobserver == jobserver)
    #expect(self.text(flags(text)) == text)
  }

  @Test(arguments: [
    (" -j4 --jobserver-auth=3,4 -- A=1", " -j4 -- A=1"), ("k --jobserver-fds=3,4", "k"),
    ("--jobserver-auth=fifo:/f", "--jobserver-auth=fifo:/f"), ("-- --jobserver-auth=3,4", "-- --jobserver-auth=3,4"),
  ])
  func descriptorsAreLeftOut(_ before: String, _ after: String) {
    #expect(text(flags(before).withoutDescriptors()) == after)
  }

  @Test(arguments: [
    ("", " -j3 --jobserver-auth=3,4"), ("k -- A=1", "k -j3 --jobserver-auth=3,4 -- A=1"),
    ("-j8 -s --jobserver-auth=fifo:/f", "-s -j3 --jobserver-auth=3,4"),
  ])
  func anotherJobserverTakesThePlaceOfTheFirst(_ before: String, _ after: String) {
    #expect(text(flags(before).with(.descriptors(3, 4), jobs: 3)) == after)
  }

  @Test func aFIFOIsNamedByItsPath() {
    #expect(text(flags("k").with(.fifo("/r/jobserver"), jobs: 2)) == "k -j2 --jobserver-auth=fifo:/r/jobserver")
  }
}
