import Foundation
import Support
import Testing

/// `Demo/package`, on the program that is built already: its Swift runtime is in the packages, as shared libraries.
///
/// `Demo/package --check` does the same on the program of a release, in which the runtime is linked.
struct PackageTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Demo/package").standardized.path()

  private static let canPackage: Bool = {
    let unshare = "unshare --mount --pid --fork $([ $(id -u) = 0 ] || echo --map-root-user) true"
    let script = "for tool in dpkg-shlibdeps patchelf strip apt-cache; do command -v $tool || exit 1; done; \(unshare)"
    return (try? ChildProcess.run(["sh", "-c", script]).ending) == .exited(0)
  }()

  private let place: Workplace

  init() throws { place = try Workplace() }

  @Test(
    .enabled(if: canPackage, "it needs the packages of 'Demo/packages package', and root or user namespaces"))
  func thePackagesAreInstalledAndRunWhereNoSwiftIs() throws {
    let words = "--program \"$OPDASH\" --output 'some folder' --maintainer 'A B <a@example.org>' --check"
    let run = try place.script(
      "'\(Self.package)' deb tar \(words)",
      environment: ["DPKG_DEB_COMPRESSOR_LEVEL": "0", "SOURCE_DATE_EPOCH": "1000000000"])
    try #require(run.ending() == .exited(0), "\(run.errorText)")
    let folder = place.folder.file("some folder").path
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    try #require(names.count == 2)
    #expect(names[0].hasPrefix("opdash-0.2.0-") && names[0].hasSuffix("-linux-gnu.tar.gz"))
    #expect(names[1].hasPrefix("opdash_0.2.0-1_") && names[1].hasSuffix(".deb"))
    #expect(run.outputText.contains("\n\(names[0]): unpacked and run"))
    #expect(run.outputText.contains("\n\(names[1]): installed and run"))

    let fields = try place.script("dpkg-deb -f 'some folder/'*.deb Depends Maintainer").outputText
    #expect(fields.contains("libcurl4"))
    #expect(fields.contains("Maintainer: A B <a@example.org>"))
    let files = try place.script("dpkg-deb -c 'some folder/'*.deb").outputText
    for file in [
      "share/man/man1/opdash-run.1.gz", "share/bash-completion/completions/opdash",
      "share/zsh/vendor-completions/_opdash", "share/fish/vendor_completions.d/opdash.fish",
      "share/doc/opdash/copyright", "share/doc/opdash/changelog.gz", "share/doc/opdash/changelog.Debian.gz",
    ] { #expect(files.contains(" 2001-09-09 01:46 ./usr/\(file)\n"), "\(file)") }
  }

  @Test(arguments: [
    ("rpm", "'rpm' is neither deb nor tar"), ("--program", "--program needs a value"),
    ("--maintainer somebody", "'somebody' is not NAME <ADDRESS>"),
  ])
  func packagingSaysWhatItDoesNotUnderstand(_ words: String, _ message: String) throws {
    let run = try place.script("'\(Self.package)' \(words)")
    #expect(run.ending() == .exited(2))
    #expect(run.errorText.contains(message))
  }
}
