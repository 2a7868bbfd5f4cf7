import Glibc
package import QuireCore

/// One call of the daemon, on the thread that makes it, with reads and writes that block.
package struct SingleCall: ~Copyable {
    private let descriptor: Int32

    /// Connects to the daemon of the drive in `home`.
    ///
    /// - Throws: `.unavailable` when none runs, `.notAllowed` for another user's drive, `.temporary` where too many wait.
    package init(home: String) throws(QuireError) { descriptor = try DriveSocket.connect(home: home) }

    deinit { close(descriptor) }

    /// Calls a method and waits for its answer. Once.
    ///
    /// - Parameter part: reads the value of each part of the answer.
    /// - Throws: what the daemon answers; `.unavailable` where the connection ends; `.failed` for an answer that cannot be read.
    package consuming func ask<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        part: (inout JSONScanner) throws(JSONScanner.Refusal) -> Void
    ) throws(QuireError) -> Method.Result where Method.Parameters: JSONWritable, Method.Result: JSONReadable {
        var writer = JSONWriter()
        RPCRequest(id: .number(1), method: Method.name, params: parameters).write(to: &writer)
        guard writer.bytes.count <= WireLimits.messageBytes else {
            throw QuireError(.usage, "\(Method.name): a request longer than a message may be")
        }
        writer.newline()
        try send(writer.bytes)
        var framer = LineFramer()
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw QuireError(.unavailable, "the connection to the daemon ended") }
            for output in buffer.withUnsafeBytes({ framer.feed(UnsafeRawBufferPointer(rebasing: $0[..<count])) }) {
                guard case .line(let line) = output else { throw Self.unreadable(Method.name) }
                if let result: Method.Result = try Self.read(line, Method.name, part) { return result }
            }
        }
    }

    private func send(_ bytes: [UInt8]) throws(QuireError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw QuireError(.unavailable, "the connection to the daemon ended") }
            rest = rest.dropFirst(count)
        }
    }

    /// The result, where the message is the answer; nil for a part of it.
    private static func read<Result: JSONReadable>(
        _ line: [UInt8], _ method: String, _ part: (inout JSONScanner) throws(JSONScanner.Refusal) -> Void
    ) throws(QuireError) -> Result? {
        var (isPart, result, failure): (Bool, Result?, RPCError?) = (false, nil, nil)
        var scanner = JSONScanner(line)
        do throws(JSONScanner.Refusal) {
            try scanner.object { name, scanner throws(JSONScanner.Refusal) in
                switch name {
                // Nothing else is told to whoever answers no requests.
                case "method": isPart = try scanner.string() == WirePartial<WireNothing>.method
                case "params" where isPart:
                    try scanner.object { name, scanner throws(JSONScanner.Refusal) in
                        if name == "value" { try part(&scanner) } else { try scanner.skip() }
                    }
                case "result": result = try Result(from: &scanner)
                case "error": failure = try RPCError(from: &scanner)
                default: try scanner.skip()
                }
            }
            try scanner.end()
        } catch {
            throw unreadable(method)
        }
        if let failure { throw failure.quireError }
        guard isPart || result != nil else { throw unreadable(method) }
        return result
    }

    private static func unreadable(_ method: String) -> QuireError {
        QuireError(.failed, "\(method): an answer that cannot be read")
    }
}
