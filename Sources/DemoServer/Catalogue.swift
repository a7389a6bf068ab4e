/// The items of the `collect` scenario; each passes its stages in order, and a step out of order is refused.
struct Catalogue {
  /// The stages in their order.
  enum Stage: String, Encodable, CaseIterable {
    case created
    case received
    case uploaded
    case enriched
  }

  struct Item: Encodable {
    var id: String
    var title: String
    var stage = Stage.created
    var bytes: Int?
    var sha256: String?
    var tags: [String] = []
  }

  private(set) var items: [Item] = []

  func index(of id: String) throws(Refusal) -> Int {
    guard let index = items.firstIndex(where: { $0.id == id }) else {
      throw Refusal(status: 404, message: "'\(id)' was not created")
    }
    return index
  }

  mutating func create(_ id: String, title: String) throws(Refusal) -> Item {
    guard !items.contains(where: { $0.id == id }) else {
      throw Refusal(status: 409, message: "'\(id)' is there already")
    }
    items.append(Item(id: id, title: title))
    return items[items.count - 1]
  }

  mutating func markReceived(_ id: String) {
    guard let index = try? index(of: id), items[index].stage == .created else { return }
    items[index].stage = .received
  }

  mutating func store(_ id: String, size: Int, sha256: String) throws(Refusal) -> Item {
    try change(id, from: .received, "receive it first") { item in
      if item.stage == .received { item.stage = .uploaded }
      item.bytes = size
      item.sha256 = sha256
    }
  }

  mutating func enrich(_ id: String) throws(Refusal) -> Item {
    try change(id, from: .uploaded, "upload its asset first") { item in
      item.stage = .enriched
      item.tags = Self.tags(for: item.sha256 ?? "")
    }
  }

  private mutating func change(_ id: String, from stage: Stage, _ advice: String, _ body: (inout Item) -> Void)
    throws(Refusal) -> Item
  {
    let index = try index(of: id)
    guard Stage.allCases.drop(while: { $0 != stage }).contains(items[index].stage) else {
      throw Refusal(status: 409, message: "'\(id)' is only \(items[index].stage.rawValue): \(advice)")
    }
    body(&items[index])
    return items[index]
  }

  /// Three words derived from the asset's checksum.
  private static func tags(for sum: String) -> [String] {
    let words = [
      ["calm", "bright", "grainy", "sharp", "soft", "deep", "pale", "wide"],
      ["north", "harbour", "forest", "street", "desert", "valley", "shore", "summit"],
      ["dawn", "noon", "dusk", "night", "spring", "summer", "autumn", "winter"],
    ]
    let digits = Array(sum.prefix(3)).map { $0.hexDigitValue ?? 0 }
    return zip(words, digits).map { $0[$1 % $0.count] }
  }
}
