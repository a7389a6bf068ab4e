/// How changes of the files that jobs read are noticed while inputs are watched.
package struct WatchRules: Sendable, Equatable {
  /// How long the files must be at rest before the jobs are executed again: changes in quick succession are one.
  package var debounce: Duration = .milliseconds(300)
  /// Names and absolute patterns of files and folders whose changes count for nothing.
  package var ignored: [String] = []

  package init() {}
}
