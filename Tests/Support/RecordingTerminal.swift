import Screen

/// A terminal without a screen that records its calls and delivers input from the test.
@MainActor
package final class RecordingTerminal: Terminal {
  package private(set) var size: Size
  package private(set) var isOpen = false
  /// Every frame that differed from the one before.
  package private(set) var frames: [Frame] = []
  package private(set) var invalidations = 0
  package private(set) var titles: [String] = []
  package private(set) var progress: [Progress] = []
  package private(set) var copied: [String] = []
  package private(set) var hasMouse = true
  package private(set) var notices: [String] = []
  package private(set) var suspensions = 0
  package private(set) var closings = 0
  /// Thrown by `open`, when set.
  package var failure: (any Error)?
  private var receive: (@MainActor (TerminalInput) -> Void)?

  package struct Progress: Equatable {
    package let percent: Int?
    package let failed: Bool

    package init(_ percent: Int?, failed: Bool = false) {
      self.percent = percent
      self.failed = failed
    }
  }

  package init(_ size: Size = Size(width: 80, height: 24)) { self.size = size }

  package var shown: Frame? { frames.last }

  /// Delivers input; nothing arrives before `open` or after `close`.
  package func send(_ input: TerminalInput) {
    if case .resized(let size) = input { self.size = size }
    if isOpen { receive?(input) }
  }

  package func send(_ keys: Key...) { for key in keys { send(.key(key)) } }

  package func type(_ text: String) { for character in text { send(.key(.character(character))) } }

  package func open(_ receive: @escaping @MainActor (TerminalInput) -> Void) throws {
    if let failure { throw failure }
    self.receive = receive
    isOpen = true
  }

  package func present(_ frame: Frame) { if isOpen, frame != frames.last { frames.append(frame) } }
  package func invalidate() { invalidations += 1 }
  package func setTitle(_ title: TerminalText) { titles.append(title.text) }
  package func setProgress(_ percent: Int?, failed: Bool) { progress.append(Progress(percent, failed: failed)) }
  package func copy(_ text: TerminalText) { copied.append(text.text) }
  package func setMouse(_ enabled: Bool) { hasMouse = enabled }
  package func notify(_ notice: EndNotice, _ text: TerminalText) { notices.append("\(notice.rawValue): \(text)") }
  package func suspend() { suspensions += 1 }

  package func close() {
    guard isOpen else { return }
    isOpen = false
    receive = nil
    closings += 1
  }
}
