import QuireCommandLine
import QuireTransport

extension Output {
    /// Writes a value as one line of JSON, its members in alphabetical order.
    static func json(_ value: some Encodable) throws { write(try WireCodec.line(value)) }
}
