import Screen

/// What a dashboard is to look like.
package struct ViewOptions: Equatable {
  /// What the header calls the run.
  package var source: String
  package var traits: ScreenTraits
  package var settings: Settings
  /// Whether the terminal is to be asked what it draws on.
  package var asksBackground: Bool
  /// What tells the terminals apart.
  package var variables: [String: String]

  package init(source: String, settings: Settings, _ environment: Environment) {
    self.source = source
    self.settings = settings
    traits = environment.traits(settings)
    asksBackground = environment.asksBackground(settings)
    variables = environment.variables
  }
}
