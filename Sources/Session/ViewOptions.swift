import Screen

/// What a dashboard is to look like.
package struct ViewOptions: Equatable {
  /// What the header calls the run.
  package var source: String
  package var traits: ScreenTraits
  package var settings: Settings

  package init(source: String, traits: ScreenTraits, settings: Settings) {
    self.source = source
    self.traits = traits
    self.settings = settings
  }
}
