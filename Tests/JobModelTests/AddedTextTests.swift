import JobModel
import Testing

@Suite struct AddedTextTests {
  @Test(arguments: [
    AddedText(Array("jobs: {}".utf8), file: "a \"b\".yml", directory: "/w", vars: ["v": "1", "w": ""], writer: "plan"),
    AddedText([], file: "<stdin>", directory: "/"),
  ])
  func itsFieldsAreReadBack(_ text: AddedText) throws {
    var line = Array("{".utf8)
    text.append(to: &line)
    line.append("}")
    var read = try line.withUnsafeBufferPointer { line in try AddedText(JSONScanner.fields(of: line)) }
    read.bytes = try AddedText.decoded(AddedText.encoded(text.bytes))
    #expect(read == text)
  }

  @Test func bytesThatAreNoTextAreKept() throws {
    let bytes: [UInt8] = [0, 0xFF, 0x80, 0x0A]
    #expect(try AddedText.decoded(AddedText.encoded(bytes)) == bytes)
    #expect(throws: JSONFault.self) { try AddedText.decoded("%") }
  }
}
