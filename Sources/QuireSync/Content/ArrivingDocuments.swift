import QuireCore
import QuireStore
import Synchronization

/// The documents of a drive whose content is here in parts: one object for each that somebody uses, and how much is here of
/// all of them. Callable from any thread.
final class ArrivingDocuments: Sendable {
    private struct Entry {
        weak var document: ArrivingDocument?
    }

    private struct State {
        var entries: [ItemID: Entry] = [:]
        var arrived: [ItemID: ByteCount] = [:]
    }

    /// Absolute path of the directory that they lie in.
    let directory: String
    private let staging: Staging
    /// Held while a document is looked for on the disk, so that there is one of each. Taken before a document's own lock.
    private let state: Lock<State>

    /// - Parameter left: what an earlier daemon left.
    init(directory: String, staging: Staging, left: [PartialContent.Left]) {
        (self.directory, self.staging) = (directory, staging)
        let arrived = left.map { ($0.subject.item, ByteCount($0.present)) }
        state = Lock(State(arrived: Dictionary(arrived) { _, last in last }))
    }

    /// How much is here of an item; nil where nothing is.
    func arrived(_ item: ItemID) -> ByteCount? { state.withLock { $0.arrived[item] } }

    /// How much is here of all of them, in bytes.
    var total: Int64 { state.withLock { $0.arrived.values.reduce(0) { $0 + $1.bytes } } }

    /// All that something is here of.
    var items: [ItemID] { state.withLock { Array($0.arrived.keys) } }

    /// The document of a subject, in use from now on; what is here of another version of the item goes. Blocks.
    func document(
        _ subject: PartialContent.Subject,
        _ make: (_ directory: String, _ staging: Staging) throws(StoreError) -> ArrivingDocument
    ) throws(StoreError) -> ArrivingUse {
        try state.withLock { (state) throws(StoreError) in
            if let known = state.entries[subject.item]?.document {
                if known.isOf(subject), !known.hasEnded { return ArrivingUse(known) }
                known.discard(Self.otherVersion(subject))
            }
            let made = try make(directory, staging)
            state.entries = state.entries.filter { $0.value.document != nil }
            state.entries[subject.item] = Entry(document: made)
            let arrived = made.arrived
            state.arrived[subject.item] = arrived == .zero ? nil : arrived
            return ArrivingUse(made)
        }
    }

    /// We are about to change an item's time, mode or place at the provider.
    ///
    /// - Returns: the document, whose `endChange` is to be called afterwards; nil where nobody uses it.
    func beginChange(_ item: ItemID) -> ArrivingDocument? {
        let document = state.withLock { $0.entries[item]?.document }
        document?.beginChange()
        return document
    }

    /// A base, with all below it, is at another place of the provider than `from`: of what is removed here afterwards the index
    /// does not tell where it is.
    func move(_ base: BaseRecord, from: RelativePath) {
        let documents = state.withLock { state in state.entries.values.compactMap(\.document) }
        for document in documents { document.move(base, from: from) }
    }

    /// Whether somebody may use an item, or something is here of it.
    func isKnown(_ item: ItemID) -> Bool { state.withLock { $0.entries[item] != nil || $0.arrived[item] != nil } }

    /// What is here of an item in one version is another's from now on, with the same bytes. Blocks.
    func follow(_ item: ItemID, _ former: ProviderVersion, _ version: ProviderVersion) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            if let document = state.entries[item]?.document { return document.follow(former, version) }
            guard state.arrived[item] != nil else { return }
            try PartialContent.follow(item, from: former, to: version, in: directory, staging: staging)
        }
    }

    /// Some has arrived.
    func noteArrival(of item: ItemID) {
        // As it is by now: of two that tell, the later may speak first; and what was dropped stays so.
        state.withLock { state in
            if let arrived = state.entries[item]?.document?.arrived { state.arrived[item] = arrived }
        }
    }

    /// Whether somebody reads the item or waits for it.
    func isInUse(_ item: ItemID) -> Bool { state.withLock { $0.entries[item]?.document }?.isInUse ?? false }

    /// Whether somebody reads the document of a base that was removed here.
    func isRead(_ base: BaseRecord) -> Bool {
        let documents = state.withLock { state in state.entries.values.compactMap(\.document) }
        return documents.contains { document in
            guard document.isInUse, let known = document.base else { return false }
            return known.container == base.container && known.path == base.path && document.isOf(base.version)
        }
    }

    /// How much is here of those that nobody reads or waits for, in bytes.
    var idle: Int64 {
        state.withLock { state in
            state.arrived.reduce(0) { sum, part in
                sum + (state.entries[part.key]?.document?.isInUse ?? false ? 0 : part.value.bytes)
            }
        }
    }

    /// Removes what is here of those that nobody reads or waits for. Blocks.
    ///
    /// - Returns: how many bytes went.
    func dropIdle() -> Int64 {
        var gone: Int64 = 0
        for item in items {
            let size = arrived(item)?.bytes ?? 0
            if dropIdle(item) == true { gone += size }
        }
        return gone
    }

    /// As `drop`, where nobody reads the item or waits for it. Blocks.
    ///
    /// - Returns: nil where somebody does.
    func dropIdle(_ item: ItemID) -> Bool? {
        // Who comes to use it does so under the same lock.
        state.withLock { state in
            if let document = state.entries[item]?.document, document.isInUse { return nil }
            return drop(item, &state)
        }
    }

    /// Gives the file of a document that is whole a path that nobody else uses, to be installed from there. Blocks.
    ///
    /// - Returns: nil where the document was dropped meanwhile: at its path may be another's file, of which less is here.
    func take(_ document: ArrivingDocument) throws(StoreError) -> String? {
        try state.withLock { (state) throws(StoreError) in
            guard Self.isCurrent(document, state) else { return nil }
            return try document.content.take()
        }
    }

    /// Undoes `take`, where the document was not dropped meanwhile. Blocks.
    func putBack(_ taken: String, of document: ArrivingDocument) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            guard Self.isCurrent(document, state) else { return staging.discard(taken) }
            try document.content.putBack(taken)
        }
    }

    private static func isCurrent(_ document: ArrivingDocument, _ state: State) -> Bool {
        state.entries[document.content.subject.item]?.document === document && !document.hasEnded
    }

    /// Removes what is here of an item: it is whole, gone, of another version, or not wanted. Blocks.
    ///
    /// - Returns: whether anything was.
    @discardableResult
    func drop(_ item: ItemID) -> Bool {
        state.withLock { drop(item, &$0) }
    }

    private func drop(_ item: ItemID, _ state: inout State) -> Bool {
        // Whoever opens it afterwards makes another file.
        let document = state.entries.removeValue(forKey: item)?.document
        let isKnown = state.arrived.removeValue(forKey: item) != nil
        if let document {
            document.discard(SyncFailure(.look, "its content is not brought here any more"))
        } else if isKnown {
            PartialContent.discard(item, in: directory, staging: staging)
        }
        return isKnown
    }

    private static func otherVersion(_ subject: PartialContent.Subject) -> SyncFailure {
        SyncFailure(.look, "the provider has another version of item \(subject.item) now")
    }
}
