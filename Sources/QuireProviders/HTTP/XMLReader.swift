import CExpat
import QuireCore

/// What a document is made of, in its order.
protocol XMLReceiver: AnyObject {
    /// An element begins.
    ///
    /// - Parameters:
    ///   - space: its namespace, empty for none.
    ///   - name: without prefix.
    func begin(space: String, name: String)
    /// The element that was begun last and has not ended yet ends.
    ///
    /// - Parameter text: all text directly in it, nothing trimmed.
    func end(space: String, name: String, text: String)
}

/// Reads XML as it arrives, in pieces of any size, within bounds: what a server answers is not trusted.
///
/// No external entity is ever opened and declared entities are refused, so no document grows by being read. One caller at
/// a time.
final class XMLReader {
    /// Most elements within one another.
    static let depth = 64
    /// Most bytes of text in one element.
    static let textLimit = 1 << 20

    private let parser: XML_Parser
    private let receiver: any XMLReceiver
    private var open: [(space: String, name: String, text: [UInt8])] = []
    private var trouble: String?
    private var hasElement = false

    /// - Throws: `.failed` where there is no memory for a parser.
    init(_ receiver: any XMLReceiver) throws(ProviderError) {
        guard let parser = XML_ParserCreateNS(nil, 0x0A) else {
            throw ProviderError(.failed, "no memory to read an answer")
        }
        self.parser = parser
        self.receiver = receiver
        XML_SetElementHandler(
            parser,
            { data, name, _ in XMLReader.of(data)?.begin(name) },
            { data, name in XMLReader.of(data)?.end() })
        XML_SetCharacterDataHandler(parser) { data, text, count in XMLReader.of(data)?.text(text, Int(count)) }
        XML_SetEntityDeclHandler(parser) { data, _, _, _, _, _, _, _, _ in
            XMLReader.of(data)?.refuse("it declares entities")
        }
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { XML_ParserFree(parser) }

    /// Takes the next piece.
    ///
    /// - Throws: `.failed` for what is no XML, or goes beyond the bounds.
    func read(_ bytes: [UInt8]) throws(ProviderError) { try parse(bytes, isLast: false) }

    /// Takes the end.
    ///
    /// - Throws: as `read`; a document that is not closed is not taken for whole.
    func finish() throws(ProviderError) {
        try parse([], isLast: true)
        guard hasElement else { throw Self.error("it is empty") }
    }

    private func parse(_ bytes: [UInt8], isLast: Bool) throws(ProviderError) {
        let status = bytes.withUnsafeBytes { buffer in
            XML_Parse(
                parser, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), isLast ? 1 : 0)
        }
        if let trouble { throw Self.error(trouble) }
        guard status == XML_STATUS_OK else {
            let words = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
            throw Self.error("\(words) in line \(XML_GetCurrentLineNumber(parser))")
        }
    }

    private func begin(_ name: UnsafePointer<XML_Char>?) {
        guard trouble == nil, let name else { return }
        guard open.count < Self.depth else { return refuse("it is nested too deeply") }
        let parts = String(cString: name).split(separator: "\n", maxSplits: 1)
        let (space, local) = parts.count == 2 ? (String(parts[0]), String(parts[1])) : ("", String(cString: name))
        hasElement = true
        open.append((space, local, []))
        receiver.begin(space: space, name: local)
    }

    private func end() {
        guard trouble == nil, let element = open.popLast() else { return }
        receiver.end(
            space: element.space, name: element.name, text: String(decoding: element.text, as: UTF8.self))
    }

    private func text(_ text: UnsafePointer<XML_Char>?, _ count: Int) {
        guard trouble == nil, !open.isEmpty, let text else { return }
        guard open[open.count - 1].text.count + count <= Self.textLimit else { return refuse("it has too much text") }
        text.withMemoryRebound(to: UInt8.self, capacity: count) { bytes in
            open[open.count - 1].text += UnsafeBufferPointer(start: bytes, count: count)
        }
    }

    private func refuse(_ reason: String) {
        trouble = trouble ?? reason
        _ = XML_StopParser(parser, 0)
    }

    private static func error(_ reason: String) -> ProviderError {
        ProviderError(.failed, "the server's answer is no XML that can be used: \(reason)")
    }

    /// The reader that a callback is about; alive, because it is the one that is parsing.
    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
        data.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }
}
