import Foundation
import QuireCore
import QuireTestSupport
import QuireTransport
import Testing

@Suite("Messages without a general coder")
struct JSONFormsTests {
    typealias Acquire = CoordinationMethods.Acquire

    @Test("What is written is what a general encoder writes")
    func written() throws {
        var random = SeededRandom(seed: 4)
        for _ in 0..<2_000 {
            let parameters = Self.parameters(&random)
            let id = Self.identifier(&random)
            try expectSame(RPCRequest(id: id, method: Acquire.name, params: parameters))
            try expectSame(RPCAnswer(id: id, result: Acquire.Result(claim: random.next(), paths: [Self.path(&random)])))
            try expectSame(RPCRequest(id: id, method: "x/y", params: WireNothing()))
            let release = CoordinationMethods.Release.Parameters(claim: random.next())
            try expectSame(RPCRequest(id: nil, method: Self.text(&random), params: release))
        }
    }

    private func expectSame(_ message: some Encodable & JSONWritable) throws {
        var writer = JSONWriter()
        message.write(to: &writer)
        let general = JSONEncoder()
        general.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let (ours, theirs) = (writer.bytes, Array(try general.encode(message)))
        if ours != theirs {
            Issue.record("\(String(decoding: ours, as: UTF8.self)) is not \(String(decoding: theirs, as: UTF8.self))")
        }
    }

    @Test("What is read is what a general decoder reads, whatever is wrong with the message", arguments: 0..<4)
    func read(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var accepted = 0
        for _ in 0..<4_000 {
            var line: [UInt8]
            if Bool.random(using: &random) {
                line = try WireCodec.line(
                    RPCRequest(id: Self.identifier(&random), method: Acquire.name, params: Self.parameters(&random)))
            } else {
                line = try WireCodec.line(
                    RPCAnswer(
                        id: Self.identifier(&random),
                        result: Acquire.Result(claim: random.next(), paths: [Self.path(&random)])))
            }
            for _ in 0..<Int.random(in: 0..<3, using: &random) { Self.damage(&line, &random) }
            if compare(RPCHeader.self, line, { [$0.jsonrpc, $0.method, $0.id.map { "\($0)" }] }) { accepted += 1 }
            compare(RPCParameters<Acquire.Parameters>.self, line) { "\($0)" }
            compare(RPCAnswer<Acquire.Result>.self, line) { "\($0)" }
            compare(RPCAnswer<WireNothing>.self, line) { "\($0)" }
        }
        // Most messages are whole, and are read.
        #expect(accepted > 1_000)
    }

    @Test("Searches and their results are written and read so, too", arguments: 0..<2)
    func searches(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<2_000 {
            let request = RPCRequest(id: Self.identifier(&random), method: "x", params: Self.search(&random))
            let paths = (0..<Int.random(in: 0..<4, using: &random)).map { _ in Self.path(&random) }
            let part = RPCRequest(
                id: nil, method: "partial", params: WirePartial(id: Self.identifier(&random), value: paths))
            try expectSame(request)
            try expectSame(part)
            var (asked, told) = (try WireCodec.line(request), try WireCodec.line(part))
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                Self.damage(&asked, &random)
                Self.damage(&told, &random)
            }
            compare(RPCParameters<ItemMethods.Find.Parameters>.self, asked) { "\($0)" }
            compare(RPCRequest<WirePartial<[WirePath]>>.self, told) { "\($0)" }
            compare(RPCAnswer<ItemMethods.Find.Result>.self, told) { "\($0)" }
        }
    }

    /// Whether it was read directly; then the general decoder reads the same.
    @discardableResult
    private func compare<Message: JSONReadable & Decodable>(
        _ type: Message.Type, _ line: [UInt8], _ value: (Message) -> some Equatable
    ) -> Bool {
        guard let message = Message(message: line) else { return false }
        let general = try? JSONDecoder().decode(Message.self, from: Data(line))
        if general.map(value) != value(message) {
            Issue.record("\(type) reads other than the general decoder: \(String(decoding: line, as: UTF8.self))")
        }
        return true
    }

    @Test(
        "What is not certain is left to the general decoder",
        arguments: [
            "", "{", "{}x", "[1]", #"{"id":1,"id":1}"#, #"{"id":01}"#, #"{"id":1.0}"#, #"{"id":1e3}"#, #"{"id":-0}"#,
            #"{"id":9223372036854775808}"#, #"{"id":"\ud800"}"#, #"{"id":"\u+041"}"#, "{\"id\":\"\u{1}\"}",
            #"{"id":1,}"#,
            #"{"x":[1,]}"#, #"{"x":.5}"#, #"{"x":nul}"#, #"{"error":{}}"#,
            #"{"x":\#(String(repeating: "[", count: 100))\#(String(repeating: "]", count: 100))}"#,
        ])
    func refused(text: String) { #expect(RPCHeader(message: Array(text.utf8)) == nil) }

    @Test("Escapes, space and unknown members are read")
    func escapes() throws {
        let text =
            " { \"x\" : [ 1.5e+3 , -0 , true , null , {} ] , \"method\" : \"a\\u00e9\\ud83d\\ude00\\/\\n\", \"id\":\"7\"}\n"
        let header = try #require(RPCHeader(message: Array(text.utf8)))
        #expect(header.method == "aé😀/\n")
        #expect(header.id == .string("7"))
    }

    // MARK: Random messages

    private static func text(_ random: inout SeededRandom) -> String {
        let characters: [Character] = ["a", "/", "\"", "\\", "é", "😀", "\u{1}", "\n", "\u{7F}", "\u{2028}", " ", "{"]
        return String(
            (0..<Int.random(in: 0..<8, using: &random)).compactMap { _ in
                characters.randomElement(using: &random)
            })
    }

    private static func path(_ random: inout SeededRandom) -> WirePath {
        if Int.random(in: 0..<8, using: &random) == 0, let name = FileName([0xFF, 0x62]) {
            return WirePath(RelativePath([name]))
        }
        return WirePath(RelativePath(parsing: text(&random)) ?? .root)
    }

    private static func identifier(_ random: inout SeededRandom) -> RPCIdentifier {
        Bool.random(using: &random) ? .number(Int64(bitPattern: random.next())) : .string(text(&random))
    }

    private static func parameters(_ random: inout SeededRandom) -> Acquire.Parameters {
        let accesses = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
            CoordinationMethods.Access(path: path(&random), access: text(&random))
        }
        var parameters = Acquire.Parameters(
            accesses, purpose: Bool.random(using: &random) ? text(&random) : nil,
            presenter: Bool.random(using: &random) ? random.next() : nil,
            timeoutSeconds: [nil, 5, 0.25, 1e-5, 1e20, -3].randomElement(using: &random) ?? nil)
        if Bool.random(using: &random) {
            parameters.path = path(&random)
            parameters.access = text(&random)
        }
        return parameters
    }

    private static func search(_ random: inout SeededRandom) -> ItemMethods.Find.Parameters {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        return ItemMethods.Find.Parameters(
            expression: maybe(text(&random)), name: maybe(text(&random)), states: maybe([.dirty, .localOnly]),
            directory: maybe(path(&random)), countOnly: Bool.random(using: &random),
            order: maybe([text(&random), "-size"]), limit: maybe(Int(truncatingIfNeeded: random.next())))
    }

    private static func damage(_ line: inout [UInt8], _ random: inout SeededRandom) {
        let place = Int.random(in: 0..<line.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: line[place] = UInt8.random(in: 0...255, using: &random)
        case 1: line.remove(at: place)
        case 2:
            let words = [
                "null", "\\u0041", "-", "0", ".5", "e1", "{", "}", "[", "]", ",", ":", "\"", " ", "\"id\":3,", "true",
            ]
            if let word = words.randomElement(using: &random) { line.insert(contentsOf: Array(word.utf8), at: place) }
        default: line = Array(line[..<place])
        }
        if line.isEmpty { line = [0x7B] }
    }
}
