import QuireCore
import Synchronization

/// What a server of ownCloud's kind tells of its data: another word once its administrator has said that it was set back, as from
/// a backup (`occ maintenance:data-fingerprint`).
///
/// It is told with the account's root, and goes along with cursors, so that it is known across restarts: `data-WORD/CURSOR`.
final class DAVFingerprint: Sendable {
    private static let mark = "data-"
    /// Innermost lock.
    private let state = Lock<String?>(nil)

    /// As it was told last; nil where it was not.
    var word: String? { state.withLock { $0 } }

    /// Takes what is told of the account's root.
    func note(_ root: DAVResource) {
        guard let word = root.fingerprint else { return }
        state.withLock { $0 = word }
    }

    /// A cursor that the word of now goes along with.
    func marked(_ cursor: ChangeCursor?) -> ChangeCursor? {
        guard let cursor, let word else { return cursor }
        return ChangeCursor("\(Self.mark)\(PercentEncoding.encode(word.utf8))/\(cursor.rawValue)")
    }

    /// A cursor, and whether the word that went along with it is another now.
    func read(_ cursor: ChangeCursor) -> (cursor: ChangeCursor, isAnother: Bool) {
        let parts = cursor.rawValue.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix(Self.mark) else { return (cursor, false) }
        let known = String(decoding: PercentEncoding.decode(String(parts[0].dropFirst(Self.mark.count))), as: UTF8.self)
        return (ChangeCursor(String(parts[1])), word.map { $0 != known } ?? false)
    }
}
