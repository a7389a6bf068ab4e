import Foundation
import JobModel
import Reports
import Support
import Testing

/// The page as a browser shows it.
///
/// Each test opens Chromium, which ends with the test.
@Suite(.serialized, .enabled(if: Chromium.isInstalled, "there is no Chromium"))
struct HTMLPictureTests {
  /// A box of the page in CSS pixels.
  private struct Box: Decodable {
    var kind: String
    var row: String
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    var across: Range<Int> { Int(x.rounded(.up))..<max(Int(x.rounded(.up)), Int(x + width)) }
    var down: Range<Int> { Int(y.rounded(.up))..<Int(y + height) }
  }

  private func page(_ facts: Facts) -> String { HTMLReport(Run(recorded: facts.events), zone: .gmt).text }

  /// The page with a script of the test at its end, which its own policy would refuse.
  private func page(_ facts: Facts, with script: String) throws -> String {
    let page = page(facts)
    let policy = try #require(page.firstRange(of: #/<meta http-equiv="Content-Security-Policy"[^>]*>/#))
    return page.replacingCharacters(in: policy, with: "")
      .replacing("</body>", with: "<script>\(script)</script></body>")
  }

  /// The boxes of all bars of the timeline, which the page writes into its title.
  private func boxes(_ facts: Facts, isDark: Bool = false) throws -> (boxes: [Box], picture: Picture) {
    let script = """
      const boxes=[...document.querySelectorAll('#tl .row[id] .ln > *')].map(i=>{const b=i.getBoundingClientRect();
      return {kind:i.localName==='s'?'path':i.className,row:i.closest('.row').id,x:b.x,y:b.y,width:b.width,height:b.height}});
      document.title=JSON.stringify(boxes);
      """
    let shot = try Chromium().load(page(facts, with: script), height: 1600, isDark: isDark)
    let title = try #require(shot.document.firstMatch(of: #/<title>(.*?)</title>/#)).1
    return (try JSONDecoder().decode([Box].self, from: Data(title.utf8)), try Picture(shot.picture))
  }

  @Test func theTimelineHasABarInTheColourOfEachStateWhereItsTimeIs() throws {
    for (isDark, colors) in [
      (false, ["x ok": 0x3F7FD1, "x failed": 0xD23C44, "x allowed-to-fail": 0xB8559C, "path": 0xE88A00]),
      (true, ["x ok": 0x5A97E6, "x failed": 0xEF5A62, "x allowed-to-fail": 0xD27BB8, "path": 0xFFAB2E]),
    ] as [(Bool, [String: UInt32])] {
      let (boxes, picture) = try boxes(.release, isDark: isDark)
      #expect(picture.width == 1200 && picture.height == 1600)
      let seen = boxes.filter { colors[$0.kind] != nil }
      #expect(Set(seen.map(\.kind)) == Set(colors.keys))
      for box in seen {
        #expect(box.width >= 2 && box.y + box.height < 1600, "\(box)")
        let area = box.across.count * box.down.count
        let count = picture.count(Picture.Color(hex: colors[box.kind] ?? 0), x: box.across, y: box.down)
        // All but the corners of a plain bar, the stripes of a patterned one.
        #expect(Double(count) > Double(area) * (box.kind == "x ok" ? 0.9 : 0.4), "\(box): \(count) of \(area)")
      }
    }
  }

  @Test func eachKindOfWaitIsDrawnInAnotherWayThanWork() throws {
    let (boxes, picture) = try boxes(.release)
    for (kind, color) in [("wn", 0xC3CBD4), ("ws", 0xA9B4C0), ("wp", 0xB09A6C), ("wb", 0xD9A21B)] as [(String, UInt32)]
    {
      let waits = boxes.filter { $0.kind == kind && $0.width >= 4 }
      #expect(!waits.isEmpty, "\(kind)")
      for box in waits {
        let count = picture.count(Picture.Color(hex: color), x: box.across, y: box.down)
        let area = box.across.count * box.down.count
        #expect(count > 0 && count < area * 2 / 3, "\(box): \(count) of \(area)")
      }
    }
  }

  @Test func barsStandOneBelowTheOtherInTheOrderOfTheirStarts() throws {
    let (boxes, _) = try boxes(.release)
    let rows = Dictionary(grouping: boxes.filter { $0.kind.hasPrefix("x ") }, by: \.row)
    let firsts = rows.values.compactMap { $0.min { $0.x < $1.x } }.sorted { $0.y < $1.y }
    #expect(firsts.count == 16)
    for (upper, lower) in zip(firsts, firsts.dropFirst()) {
      #expect(lower.y - upper.y == 22 && lower.x >= upper.x - 0.5)
    }
    // A wait ends where the attempt begins: nothing of a row overlaps.
    for row in Dictionary(grouping: boxes.filter { $0.kind != "path" && $0.width > 2 }, by: \.row).values {
      let parts = row.sorted { $0.x < $1.x }
      for (left, right) in zip(parts, parts.dropFirst()) { #expect(left.x + left.width <= right.x + 0.1) }
    }
  }

  @Test func aLongNameLeavesTheBarsWhereTheyAre() throws {
    var facts = Facts()
    facts.begin(["a", String(repeating: "long-", count: 60)].map { Job(name: $0, work: .simulate(SimulatedWork())) })
    for id in 0..<2 { facts.job(id, .executing, after: id == 0 ? .seconds(1) : .zero) }
    for id in 0..<2 { facts.job(id, .succeeded(upToDate: false), after: id == 0 ? .seconds(2) : .zero) }
    facts.state(.runFinished(RunSummary()))
    let bars = try boxes(facts).boxes.filter { $0.kind == "x ok" }
    try #require(bars.count == 2)
    #expect(bars[0].x == bars[1].x && bars[0].width == bars[1].width && bars[0].row != bars[1].row)
  }

  /// Were the hash of the script in the policy wrong, the page's tools would stay hidden.
  @Test func theScriptOfThePageRunsUnderItsOwnPolicy() throws {
    let hasRun = try Chromium().load(page(.release)).document.contains("id=\"tools\">")
    #expect(hasRun, "put the new hash of the script into HTMLStyle.scriptHash")
  }

  @Test func theFilterHidesTheRowsOfOtherJobs() throws {
    let script = """
      const q=document.getElementById('q'),count=()=>document.querySelectorAll('#tl .row[id]:not([hidden])').length;
      const all=count();q.value='LINUX';q.dispatchEvent(new Event('input'));const some=count();
      const cp=document.getElementById('cp');cp.checked=true;cp.dispatchEvent(new Event('change'));
      document.title=[all,some,count()].join(' ');
      """
    let document = try Chromium().load(page(.release, with: script)).document
    #expect(document.firstMatch(of: #/<title>(.*?)</title>/#)?.1 == "20 5 4")
  }

  @Test func aRunOfTenThousandJobsOpens() throws {
    let shot = try Chromium().load(page(.layered(10_000, width: 250, slots: 32)))
    let (rows, hasRun) = (
      shot.document.components(separatedBy: " id=\"j").count - 1, shot.document.contains("id=\"tools\">")
    )
    #expect(rows == 10_000 && hasRun)
    let picture = try Picture(shot.picture)
    let blue = picture.count(Picture.Color(hex: 0x3F7FD1), x: 0..<picture.width, y: 0..<picture.height)
    #expect(blue > 500, "\(blue)")
  }
}
