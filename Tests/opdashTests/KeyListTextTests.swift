import Dashboard
import Reports
import Testing

@testable import opdash

struct KeyListTextTests {
  private func lines(_ keys: KeyMap = .standard, file: String? = "/h/config.yaml", isThere: Bool = true) -> [String] {
    KeyListText(keys: keys, file: file, isThere: isThere, paint: Paint(isColoured: false), isASCII: false).lines
      .map(\.text)
  }

  @Test func aBlankLineStandsBetweenSections() {
    var sections: [String] = []
    for entry in KeyMap.standard.entries where sections.last != entry.section { sections.append(entry.section) }
    let paragraphs = lines().split(separator: "", omittingEmptySubsequences: false)
    #expect(paragraphs.map(\.first) == sections + ["All as usual: /h/config.yaml changes none."])
    #expect(paragraphs.dropLast().allSatisfy { $0.dropFirst().allSatisfy { $0.hasPrefix("  ") } })
  }

  @Test func theSourceOfTheKeysIsSaid() {
    #expect(lines(isThere: false).last == "All as usual: there is no /h/config.yaml.")
    #expect(lines(file: nil).last == "There is no settings file: neither XDG_CONFIG_HOME nor HOME is set.")
    #expect(lines(KeyMap(changes: ["kill": [.character("x")]])).last == "* changed by /h/config.yaml")
  }
}
