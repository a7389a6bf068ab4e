import Testing

@testable import DemoServer

struct ServerReplyTests {
  private func read(_ count: Int, of reply: ServerReply, at offset: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = buffer.withUnsafeMutableBytes { reply.read(at: offset, into: $0) }
    return Array(buffer[..<read])
  }

  @Test func bytesAreReadFromAnyPlace() {
    let reply = ServerReply(status: 200, body: .bytes([1, 2, 3, 4, 5]))
    #expect(reply.length == 5)
    #expect(read(2, of: reply, at: 0) == [1, 2])
    #expect(read(9, of: reply, at: 3) == [4, 5])
    #expect(read(9, of: reply, at: 5).isEmpty && read(9, of: reply, at: 6).isEmpty)
  }

  @Test func contentIsReadWithinItsRange() {
    let content = DemoContent(size: 100, seed: 2)
    let reply = ServerReply(status: 206, body: .content(content, 10..<20))
    #expect(reply.length == 10)
    #expect(read(4, of: reply, at: 0) == Array(content.bytes[10..<14]))
    #expect(read(99, of: reply, at: 7) == Array(content.bytes[17..<20]))
    #expect(read(1, of: reply, at: 9) == [content.bytes[19]])
    #expect(read(9, of: reply, at: 10).isEmpty)
  }

  @Test func anAnswerIsALineOfTextOrAnObjectWithSortedKeys() {
    let text = ServerReply.text(404, "nothing")
    #expect(text.status == 404 && read(99, of: text, at: 0) == Array("nothing\n".utf8))
    let json = ServerReply.json(201, ["b": "/x", "a": "y"])
    #expect(json.status == 201)
    #expect(
      String(decoding: read(99, of: json, at: 0), as: UTF8.self) == """
        {
          "a" : "y",
          "b" : "/x"
        }

        """)
  }
}
