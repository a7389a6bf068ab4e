import Testing

@testable import DemoServer

struct CatalogueTests {
  private func refusal(_ body: () throws(Refusal) -> Catalogue.Item) -> String? {
    do throws(Refusal) {
      _ = try body()
      return nil
    } catch { return "\(error.status) \(error.message)" }
  }

  @Test func eachStepIsRefusedBeforeTheOneBeforeIt() throws {
    var catalogue = Catalogue()
    #expect(refusal { () throws(Refusal) in try catalogue.enrich("a") } == "404 'a' was not created")
    #expect(try catalogue.create("a", title: "A").stage == .created)
    #expect(refusal { () throws(Refusal) in try catalogue.create("a", title: "B") } == "409 'a' is there already")
    #expect(
      refusal { () throws(Refusal) in try catalogue.store("a", size: 1, sha256: "0") }
        == "409 'a' is only created: receive it first")
    catalogue.markReceived("a")
    #expect(
      refusal { () throws(Refusal) in try catalogue.enrich("a") }
        == "409 'a' is only received: upload its asset first")
    let stored = try catalogue.store("a", size: 3, sha256: "0a7f")
    #expect(stored.stage == .uploaded && stored.bytes == 3 && stored.sha256 == "0a7f" && stored.tags.isEmpty)
    #expect(try catalogue.enrich("a").stage == .enriched)
    #expect(catalogue.items.map(\.title) == ["A"])
  }

  @Test func noStageIsTakenBack() throws {
    var catalogue = Catalogue()
    _ = try catalogue.create("a", title: "A")
    _ = try catalogue.create("b", title: "B")
    catalogue.markReceived("none")
    catalogue.markReceived("b")
    #expect(catalogue.items.map(\.stage) == [.created, .received])
    _ = try catalogue.store("b", size: 1, sha256: "1")
    catalogue.markReceived("b")
    #expect(catalogue.items.map(\.stage) == [.created, .uploaded])
    _ = try catalogue.enrich("b")
    #expect(try catalogue.store("b", size: 2, sha256: "2").stage == .enriched)
    #expect(catalogue.items.map(\.bytes) == [nil, 2])
  }

  /// One word of each list for each of the first three digits.
  @Test(arguments: [("0a7f", ["calm", "forest", "winter"]), ("800", ["calm", "north", "dawn"]), ("7", ["wide"])])
  func theTagsFollowFromTheSum(sum: String, tags: [String]) throws {
    var catalogue = Catalogue()
    _ = try catalogue.create("a", title: "A")
    catalogue.markReceived("a")
    _ = try catalogue.store("a", size: 1, sha256: sum)
    #expect(try catalogue.enrich("a").tags == tags)
  }
}
