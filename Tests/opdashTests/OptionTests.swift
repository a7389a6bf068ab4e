import Support
import Testing

@testable import opdash

struct OptionTests {
  /// Recorded with OPDASH_RECORD=1.
  @Test func theReferenceHasTheTableOfOptions() throws {
    let rows = Option.all.map { option in
      let commands = option.commands.map(\.rawValue).joined(separator: ", ")
      let term = option.term(of: option.commands.first).trimmingPrefix("    ")
      return ["`\(term)`", commands.isEmpty ? "all" : commands, option.summary]
    }
    let table = articleTable("Options", columns: ["Option", "Commands", "Effect"], rows)
    let fault = try faultOfTables(table, in: "Sources/opdash/opdash.docc/Options.md", from: "## Options")
    #expect(fault == nil)
  }

  @Test func noTwoOptionsOfACommandShareANameOrALetter() {
    for command in CommandName.allCases {
      let options = Option.all.filter { $0.commands.isEmpty || $0.commands.contains(command) }
      let letters = options.filter { !$0.unlettered.contains(command) }.compactMap(\.letter)
      #expect(Set(letters).count == letters.count, "\(command)")
    }
    #expect(Set(Option.all.map(\.name)).count == Option.all.count)
  }
}
