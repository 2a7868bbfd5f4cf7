/// A message, or a part of one, that is read without a general decoder.
///
/// For messages of which so many are sent that the general decoder would be most of their cost: those of a coordinated
/// access. What is refused here is read by that decoder, which also has the words for what is wrong.
package protocol JSONReadable {
    /// Reads the value that is next.
    init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal)
}

/// A message, or a part of one, that is written without a general encoder: the same bytes.
package protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}

extension JSONReadable {
    /// Reads a whole message; nil where the general decoder is to decide.
    package init?(message: [UInt8]) {
        var scanner = JSONScanner(message)
        do throws(JSONScanner.Refusal) {
            self = try Self(from: &scanner)
            try scanner.end()
        } catch {
            return nil
        }
    }

    /// Reads the value that is next; nil where that is null.
    package static func orNull(_ scanner: inout JSONScanner) throws(JSONScanner.Refusal) -> Self? {
        try scanner.null() ? nil : Self(from: &scanner)
    }
}

extension JSONScanner {
    /// Reads a string; nil where null is next.
    package mutating func stringOrNull() throws(Refusal) -> String? { try null() ? nil : string() }
}

// MARK: Envelopes

extension RPCHeader: JSONReadable {
    /// Only of messages that are no errors.
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var header = RPCHeader()
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "jsonrpc": header.jsonrpc = try scanner.stringOrNull()
            case "method": header.method = try scanner.stringOrNull()
            case "id": header.id = try RPCIdentifier.orNull(&scanner)
            case "error": guard try scanner.null() else { throw JSONScanner.Refusal() }
            default: try scanner.skip()
            }
        }
        self = header
    }
}

extension RPCIdentifier: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        self = try scanner.isAtString() ? .string(scanner.string()) : .number(scanner.integer())
    }

    package func write(to writer: inout JSONWriter) {
        switch self {
        case .number(let number): writer.integer(number)
        case .string(let string): writer.string(string)
        }
    }
}

extension RPCRequest: JSONWritable where Parameters: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let id {
                writer.name("id")
                id.write(to: &writer)
            }
            writer.name("jsonrpc")
            writer.string(jsonrpc)
            writer.name("method")
            writer.string(method)
            writer.name("params")
            params.write(to: &writer)
        }
    }
}

extension RPCParameters: JSONReadable where Parameters: JSONReadable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var params: Parameters?
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            if name == "params" { params = try Parameters(from: &scanner) } else { try scanner.skip() }
        }
        guard let params else { throw JSONScanner.Refusal() }
        self.init(params: params)
    }
}

extension RPCAnswer: JSONWritable where Result: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("id")
            id.write(to: &writer)
            writer.name("jsonrpc")
            writer.string(jsonrpc)
            writer.name("result")
            result.write(to: &writer)
        }
    }
}

extension RPCAnswer: JSONReadable where Result: JSONReadable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var (id, result): (RPCIdentifier?, Result?) = (nil, nil)
        var jsonrpc: String?
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "id": id = try RPCIdentifier(from: &scanner)
            case "jsonrpc": jsonrpc = try scanner.string()
            case "result": result = try Result(from: &scanner)
            default: try scanner.skip()
            }
        }
        guard let id, let result, let jsonrpc else { throw JSONScanner.Refusal() }
        self.init(id: id, result: result)
        self.jsonrpc = jsonrpc
    }
}

extension WireNothing: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        try scanner.object { _, scanner throws(JSONScanner.Refusal) in try scanner.skip() }
        self.init()
    }

    package func write(to writer: inout JSONWriter) { writer.object { _ in } }
}
