import QuireCore
import QuireTransport
import Testing

@Suite("Wire messages")
struct WireTests {
    private func roundTrip<Value: Codable>(_ value: Value) throws -> (Value, String) {
        let line = try WireCodec.line(value)
        return (try WireCodec.decode(Value.self, from: line), String(decoding: line.dropLast(), as: UTF8.self))
    }

    @Test("A path is a string, or bytes where it is not UTF-8")
    func paths() throws {
        let (plain, text) = try roundTrip(WirePath("a/é\n"))
        #expect(plain.path == "a/é\n")
        #expect(text == #""a/é\n""#)
        let odd = WirePath(RelativePath([try #require(FileName([0xFF, 0x62]))]))
        #expect(try roundTrip(odd).0 == odd)
        #expect(try roundTrip(odd).1 == #"{"base64":"/2I="}"#)
        #expect(try roundTrip(WirePath(.root)).1 == "\"\"")
    }

    @Test(
        "A path that leads out of the drive is refused",
        arguments: [#""a/../b""#, #""..""#, #"{"base64":"Li4="}"#, "3"])
    func refusedPaths(text: String) {
        #expect(throws: (any Error).self) { _ = try WireCodec.decode(WirePath.self, from: Array(text.utf8)) }
    }

    @Test("Times are ISO 8601 in UTC")
    func times() throws {
        let time = WireTime(FileTime(seconds: 1_769_846_709, nanoseconds: 250_000_000))
        #expect(time.description == "2026-01-31T08:05:09.250Z")
        #expect(WireTime(time.description) == time)
        #expect(WireTime("yesterday") == nil)
        #expect(WireTime(FileTime(seconds: -1, nanoseconds: 0)).description == "1969-12-31T23:59:59.000Z")
    }

    @Test("Lines are cut out of any pieces")
    func framing() {
        var framer = LineFramer(limit: 4)
        #expect(feed("ab", to: &framer) == [])
        #expect(feed("cd\n\ne\nf", to: &framer) == [.line(Array("abcd".utf8)), .line(Array("e".utf8))])
        #expect(framer.pendingByteCount == 1)
        #expect(feed("ghi\nk\n", to: &framer) == [.line(Array("fghi".utf8)), .line(Array("k".utf8))])
        #expect(feed("x\n12345", to: &framer) == [.line(Array("x".utf8)), .tooLong])
        #expect(feed("\nmore\n", to: &framer) == [])
    }

    private func feed(_ text: String, to framer: inout LineFramer) -> [LineFramer.Output] {
        Array(text.utf8).withUnsafeBytes { framer.feed($0) }
    }

    @Test("An error keeps its kind over the wire")
    func errors() throws {
        for value in QuireError.Code.Value.allCases {
            let error = QuireError(QuireError.Code(value), "m", remedy: "r")
            let back = try roundTrip(RPCError(error)).0.quireError
            #expect(back.code == error.code && back.message == "m" && back.remedy == "r")
        }
        #expect(RPCError(code: RPCError.internalError, message: "x").quireError.code == .failed)
    }

    @Test("Ids are given back as they came")
    func identifiers() throws {
        #expect(try roundTrip(RPCIdentifier.number(-3)).1 == "-3")
        #expect(try roundTrip(RPCIdentifier.string("3")).1 == #""3""#)
        #expect(throws: (any Error).self) { _ = try WireCodec.decode(RPCIdentifier.self, from: Array("1.5".utf8)) }
    }
}
