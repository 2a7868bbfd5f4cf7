import Crypto
import QuireCore

/// The checksum that a server tells with content, as ownCloud does: `OC-Checksum: SHA1:DIGITS`. What arrives is counted with it.
struct DAVToldChecksum: Sendable {
    private var hash: any HashFunction & Sendable
    private let digits: String

    /// Nil where the answer tells none, or one of another kind.
    init?(_ answer: HTTPAnswer) {
        for word in (answer.fields["OC-Checksum"] ?? "").split(separator: " ") {
            let parts = word.split(separator: ":")
            guard parts.count == 2, let hash = Self.hash(parts[0].uppercased()) else { continue }
            self.hash = hash
            digits = parts[1].lowercased()
            return
        }
        return nil
    }

    private static func hash(_ name: String) -> (any HashFunction & Sendable)? {
        switch name {
        case "SHA256": SHA256()
        case "SHA1": Insecure.SHA1()
        case "MD5": Insecure.MD5()
        default: nil
        }
    }

    /// The same after more has arrived.
    func adding(_ piece: BodyPiece) -> DAVToldChecksum {
        var next = self
        piece.forEachPart { next.hash.update(bufferPointer: $0) }
        return next
    }

    /// Whether what has arrived is what the server told.
    var isThat: Bool { Hexadecimal.encode(hash.result) == digits }
}

extension HashFunction {
    /// Of all that was given so far.
    fileprivate var result: [UInt8] { Array(finalize()) }
}
