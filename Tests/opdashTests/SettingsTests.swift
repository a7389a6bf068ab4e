import Dashboard
import Foundation
import JobFiles
import JobModel
import Screen
import Session
import Testing

@testable import opdash

/// The examples of the settings reference, and the precedence of command line and file.
@Suite struct SettingsTests {
  private func reference() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = "Sources/JobFiles/JobFiles.docc/Settings.md"
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  private func settings(_ text: String) throws(JobFileFaults) -> SettingsFile {
    try SettingsFile.decode(Array(text.utf8), file: "config.yaml", SettingsFile.dashboards)
  }

  @Test func theReferencesExampleIsWithoutFault() throws {
    let example = try #require(reference().components(separatedBy: "```yaml\n").dropFirst().first)
    let settings = try settings(#require(example.components(separatedBy: "```").first))
    #expect(settings.keys == ["cancel": [.character("d"), .function(9)], "kill": [.control("k")]])
    #expect(settings.colors["executing"] == Style(.indexed(39)))
    #expect(settings.notify == .bell && settings.background == .light)
  }

  @Test func theReferenceNamesEveryElement() throws {
    let reference = try reference()
    for element in ThemeElement.allCases { #expect(reference.contains("`\(element.rawValue)`"), "\(element.rawValue)") }
  }

  @Test func theUsualKeysCanBeWrittenDownAsTheyAre() throws {
    let lines = KeyMap.standard.entries.map { entry in
      "\(entry.action): [\(entry.keys.map { "\"\($0.name().replacing("\\", with: "\\\\"))\"" }.joined(separator: ", "))]"
    }
    let settings = try settings("keys:\n  " + lines.joined(separator: "\n  "))
    #expect(!KeyMap(changes: settings.keys).entries.contains { $0.isChanged })
  }

  @Test func unsetSettingsStayNil() throws {
    let settings = try Settings().over(settings("x-nothing: here"))
    #expect(settings == Settings())
    #expect(try Settings().over(self.settings("background: auto")).background == .unknown)
  }

  @Test(arguments: [
    (true, nil, true), (true, true, true), (true, false, false), (false, nil, false), (false, true, false),
  ])
  func theMouseIsOffWhereEitherSaysSo(option: Bool, file: Bool?, result: Bool) throws {
    var settings = Settings()
    settings.hasMouse = option
    let text = file.map { "mouse: \($0)\n" } ?? "notify: bell\n"
    #expect(try settings.over(self.settings(text)).hasMouse == result)
  }

  @Test func whatTheCommandLineDoesNotSayIsTakenFromTheFile() {
    var file = SettingsFile()
    file.keys = ["cancel": [.character("d")]]
    file.colors = ["executing": Style(.indexed(39))]
    file.background = .light
    file.notify = .bell
    file.retention = Retention(runs: 3)
    let settings = Settings().over(file)
    #expect(settings.keys == file.keys && settings.looks == file.colors)
    #expect(settings.background == .light && settings.notice == .bell && settings.retention.runs == 3)
    var said = Settings()
    said.background = .dark
    said.notice = EndNotice.none
    #expect(said.over(file).background == .dark && said.over(file).notice == EndNotice.none)
  }

  @Test(arguments: [
    (true, nil, true), (true, false, true), (false, true, true), (false, nil, false), (false, false, false),
  ])
  func asciiIsDrawnWhereEitherSaysSo(option: Bool, file: Bool?, result: Bool) {
    var (settings, given) = (Settings(), SettingsFile())
    settings.isASCII = option
    given.isASCII = file
    #expect(settings.over(given).isASCII == result)
  }
}
