import QuireCore
import Synchronization

/// Messages that are read and written without the general coder, by their types.
///
/// Whether a type has such a form is asked of the runtime once for each: that takes longer than to read a message.
enum DirectForms {
    // Each taken alone.
    private static let readable = Lock<[ObjectIdentifier: (any JSONReadable.Type)?]>([:])
    private static let writable = Lock<[ObjectIdentifier: (any JSONWritable.Type)?]>([:])

    /// A message with its newline; nil where the type has no form of its own.
    static func line<Message>(_ message: Message) -> [UInt8]? {
        let type = writable.withLock { known -> (any JSONWritable.Type)? in
            if let type = known[ObjectIdentifier(Message.self)] { return type }
            let type = Message.self as? any JSONWritable.Type
            known[ObjectIdentifier(Message.self)] = .some(type)
            return type
        }
        return type.flatMap { line(message, $0) }
    }

    private static func line<Message, Form: JSONWritable>(_ message: Message, _ form: Form.Type) -> [UInt8]? {
        guard let message = message as? Form else { return nil }
        var writer = JSONWriter()
        message.write(to: &writer)
        writer.newline()
        return writer.bytes
    }

    /// A message; nil where the general decoder is to read it.
    static func read<Message>(_ type: Message.Type, from line: [UInt8]) -> Message? {
        let form = readable.withLock { known -> (any JSONReadable.Type)? in
            if let form = known[ObjectIdentifier(type)] { return form }
            let form = type as? any JSONReadable.Type
            known[ObjectIdentifier(type)] = .some(form)
            return form
        }
        return form.flatMap { read(type, $0, from: line) }
    }

    private static func read<Message, Form: JSONReadable>(
        _ type: Message.Type, _ form: Form.Type, from line: [UInt8]
    ) -> Message? {
        Form(message: line) as? Message
    }
}
