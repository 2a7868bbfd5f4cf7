import QuireCore

/// The registered presenters and where their items are.
struct PresenterBook {
    struct Entry {
        var registration: PresenterRegistration
        /// Where it is in the tree; -1 where it has no item.
        var node: Int32 = -1
        /// What it will be asked, in order, once the present question is answered.
        var backlog: [Question] = []
        /// The question that it has now.
        var current: QuestionID?
        var asked: Question?
        /// The claims that it gave way to, and whether to their writing.
        var gaveWayTo: [ClaimID: Bool] = [:]
        /// Questions that it did not answer in time, and may still.
        var late: [QuestionID: Question] = [:]

        var isHung: Bool { !late.isEmpty }

        /// Whose requests are on account of a question to it.
        var respondents: [Respondent] {
            [.purpose(registration.purpose)] + (registration.processID.map { [.process($0)] } ?? [])
        }

        func implements(_ callback: PresenterCallbacks) -> Bool { registration.callbacks.contains(callback) }

        func implements(_ message: PresenterMessage) -> Bool { message.callback.map(implements) ?? true }
    }

    struct Question {
        let claim: ClaimID
        let question: PresenterQuestion
        let timeout: Duration
    }

    private(set) var trie = PathTrie()
    private var byNode: [Int32: [PresenterID]] = [:]
    private(set) var clients: [ClientID: Set<PresenterID>] = [:]
    var entries: [PresenterID: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ registration: PresenterRegistration) {
        entries[registration.id] = Entry(registration: registration)
        clients[registration.client, default: []].insert(registration.id)
        attach(registration.id)
    }

    mutating func remove(_ id: PresenterID) -> Entry? {
        detach(id)
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        clients[entry.registration.client]?.remove(id)
        if clients[entry.registration.client]?.isEmpty == true { clients[entry.registration.client] = nil }
        return entry
    }

    /// Changes where a presenter's item is.
    mutating func place(_ id: PresenterID, at path: RelativePath?) {
        detach(id)
        entries[id]?.registration.path = path
        attach(id)
    }

    /// Presenters of exactly `path`, in the order of their registration.
    func at(_ path: RelativePath) -> [PresenterID] {
        guard !entries.isEmpty, let node = trie.node(at: path) else { return [] }
        return byNode[node] ?? []
    }

    /// Presenters of the directories above `path`, outermost first.
    func above(_ path: RelativePath) -> [PresenterID] {
        guard !entries.isEmpty else { return [] }
        return trie.nodes(above: path).flatMap { byNode[$0] ?? [] }
    }

    /// Presenters of items below `path`, in the order of their registration.
    func below(_ path: RelativePath) -> [PresenterID] {
        guard !entries.isEmpty, let node = trie.node(at: path) else { return [] }
        var found: [PresenterID] = []
        trie.forEachDescendant(of: node) { node in
            found += byNode[node] ?? []
            return true
        }
        return found.sorted()
    }

    /// Whether any presenter's item is `path`, above it or below it.
    func hasAny(around path: RelativePath) -> Bool {
        guard !entries.isEmpty else { return false }
        var isPresented = false
        let isThere = trie.walk(to: path) { node in
            isPresented = byNode[node] != nil
            return !isPresented
        }
        // A node is there while it, or something below it, has presenters; the root always is.
        return isPresented || isThere && (!path.isRoot || !byNode.isEmpty)
    }

    private mutating func attach(_ id: PresenterID) {
        guard let path = entries[id]?.registration.path else { return }
        let node = trie.node(making: path)
        trie.use(node)
        entries[id]?.node = node
        byNode[node, default: []].append(id)
        byNode[node]?.sort()
    }

    private mutating func detach(_ id: PresenterID) {
        guard let node = entries[id]?.node, node >= 0 else { return }
        entries[id]?.node = -1
        byNode[node]?.removeAll { $0 == id }
        if byNode[node]?.isEmpty == true { byNode[node] = nil }
        trie.endUse(node)
    }
}
