extension Style {
  /// The nearest style that a terminal with `palette` can show.
  package func reduced(to palette: ScreenTraits.Palette) -> Style {
    var style = self
    switch palette {
    case .many: break
    case .sixteen:
      style.foreground = foreground.reduced(to: 16)
      style.background = background.reduced(to: 16)
    case .eight:
      style.background = background.reduced(to: 8)
      // A bright color is shown as bold, bright black as dim text, for black on black can't be read.
      switch foreground.reduced(to: 16) {
      case .indexed(8):
        style.foreground = .standard
        style.attributes.insert(.dim)
      case .indexed(let index) where index > 8:
        style.foreground = .indexed(index - 8)
        style.attributes.insert(.bold)
      case let other: style.foreground = other
      }
    case .none:
      style.foreground = .standard
      style.background = .standard
    }
    return style
  }
}

extension Style.Color {
  /// The nearest of the 256 indexed colors: a grey of the ramp or a corner of the cube.
  package static func nearest(red: UInt8, green: UInt8, blue: UInt8) -> Style.Color {
    let wanted = RGB(Int(red), Int(green), Int(blue))
    let candidates = [wanted.cubeIndex, wanted.greyIndex]
    let best = candidates.min { RGB(index: $0).distance(to: wanted) < RGB(index: $1).distance(to: wanted) }
    return .indexed(best ?? 7)
  }

  fileprivate func reduced(to count: UInt8) -> Style.Color {
    guard case .indexed(let index) = self else { return self }
    if index < count { return self }
    if index < 16 { return .indexed(index - 8) }
    let wanted = RGB(index: index)
    let best = (0..<count).min { RGB(index: $0).distance(to: wanted) < RGB(index: $1).distance(to: wanted) }
    return .indexed(best ?? 7)
  }
}

private struct RGB {
  let red: Int
  let green: Int
  let blue: Int

  init(_ red: Int, _ green: Int, _ blue: Int) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// As xterm shows the indexed color.
  init(index: UInt8) {
    let index = Int(index)
    switch index {
    case 7: self.init(229, 229, 229)
    case 8: self.init(127, 127, 127)
    case 0..<8: self.init((index & 1) * 205, (index >> 1 & 1) * 205, (index >> 2 & 1) * 205)
    case 8..<16: self.init((index & 1) * 255, (index >> 1 & 1) * 255, (index >> 2 & 1) * 255)
    case 16..<232:
      let steps = [0, 95, 135, 175, 215, 255]
      self.init(steps[(index - 16) / 36], steps[(index - 16) / 6 % 6], steps[(index - 16) % 6])
    default: self.init((index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8)
    }
  }

  var cubeIndex: UInt8 {
    func step(_ value: Int) -> Int { value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40 }
    return UInt8(16 + 36 * step(red) + 6 * step(green) + step(blue))
  }

  var greyIndex: UInt8 { UInt8(232 + min(23, max(0, ((red + green + blue) / 3 - 3) / 10))) }

  func distance(to other: RGB) -> Int {
    let (red, green, blue) = (red - other.red, green - other.green, blue - other.blue)
    return red * red + green * green + blue * blue
  }
}
