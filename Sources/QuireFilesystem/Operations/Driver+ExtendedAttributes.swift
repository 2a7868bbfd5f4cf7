import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore
import QuireStore

extension Driver {
    /// The driver's own attributes: answered by the daemon, never stored by programs.
    fileprivate static let ownPrefix = "user.quire."

    /// What the kernel asks for before the first write to a file, and hardly any file has.
    static let capability = "security.capability"

    /// Whether the answer to GETXATTR is known to be that there is no such attribute. Costs next to nothing.
    func isKnownAbsent(_ name: UnsafePointer<CChar>, _ node: Node) -> Bool {
        table.locked { _ in node.hasNoCapability } && strcmp(name, Self.capability) == 0
    }

    /// GETXATTR. `size` 0 asks for the length.
    func extendedAttribute(_ reply: consuming Reply, _ node: Node, _ name: AttributeName, _ size: Int) {
        switch name {
        case .unsupported: reply.error(EOPNOTSUPP)
        case .own(let name):
            guard let path = table.path(of: node) else { return reply.error(ENODATA) }
            answerLater(reply, size) { [services] in await services.attributes.attribute(name, at: path) }
        case .tags: return tags(reply, node, size)
        case .stored(let name):
            let value = Result { () throws(DriverError) -> [UInt8] in
                let reference = try resolver.reference(node)
                return try Self.buffer(size) { quire_any_fgetxattr(reference.raw, name, $0, $1) }
            }
            answer(reply, value, size)
        }
    }

    /// LISTXATTR: what is stored, root's only for root. The driver's own are read by name only, so that `cp -a` and
    /// `tar --xattrs` do not try to set them elsewhere.
    func listExtendedAttributes(_ reply: consuming Reply, _ node: Node, _ size: Int) {
        let isRoot = reply.caller.uid == 0
        let (inode, isEmpty) = table.locked { _ in (node.inode, node.hasNoAttributes) }
        if services.attributes.mayHaveTags(inode: inode) { return listWithTags(reply, node, size, isRoot: isRoot) }
        if isEmpty { return answer(reply, .success([]), size) }
        answer(reply, storedNames(node, isRoot: isRoot), size)
    }

    /// Ends each name with NUL.
    func storedNames(_ node: Node, isRoot: Bool) -> Result<[UInt8], DriverError> {
        Result { () throws(DriverError) -> [UInt8] in
            let reference = try resolver.reference(node)
            if quire_any_flistxattr(reference.raw, nil, 0) == 0 {
                table.locked { _ in node.hasNoAttributes = true }
                return []
            }
            let all = try Self.buffer(1 << 16) { quire_any_flistxattr(reference.raw, $0, $1) }
            return all.split(separator: 0).filter { name in
                isRoot || !name.starts(with: "trusted.".utf8)
            }.filter(AttributeName.isStored).flatMap { $0 + [0] }
        }
    }

    /// SETXATTR and REMOVEXATTR (`value` nil).
    func setExtendedAttribute(
        _ reply: consuming Reply, _ node: Node, _ name: AttributeName, _ value: [UInt8]?, _ flags: CInt
    ) {
        guard mustAskCoordinator else { return performSet(reply, node, name, value, flags, nil) }
        let accesses = accesses(writing: node, .contentIndependentMetadataOnly)
        coordinated(reply, accesses) { driver, reply, claim in
            let thread = reply.caller.pid
            if driver.wasReplaced(node, accesses), driver.staleAnswers.mayAnswer(thread) { return reply.error(ESTALE) }
            driver.staleAnswers.settle(thread)
            driver.performSet(reply, node, name, value, flags, claim)
        }
    }

    private func performSet(
        _ reply: consuming Reply, _ node: Node, _ name: AttributeName, _ value: [UInt8]?, _ flags: CInt,
        _ claim: HeldClaim?
    ) {
        let thread = reply.caller.pid
        switch name {
        case .unsupported: reply.error(EOPNOTSUPP)
        case .own, .tags:
            guard let path = table.path(of: node) else { return reply.error(ESTALE) }
            var mustHaveTags = false
            if case .tags = name {
                mustHaveTags = value == nil && storedTags(node) == nil
                if mustHaveTags, !mayHaveTags(node) { return reply.error(ENODATA) }
                removeStoredTags(node)
            }
            let name = name.ownName
            let box = ReplyBox(reply)
            let request = RequestStatistics.postpone()
            Task { [self, mustHaveTags] in
                let isMissing = mustHaveTags ? await !hasTags(at: path) : false
                let result = isMissing ? ENODATA : await services.attributes.setAttribute(name, to: value, at: path)
                if result == 0 { tellChange(node, claim, thread) }
                box.take()?.error(result)
                statistics.finish(request)
            }
        case .stored(let name):
            let done = Result { () throws(DriverError) -> Void in
                try gate.shared { () throws(DriverError) -> Void in
                    let reference = try resolver.reference(node)
                    table.locked { _ in
                        node.hasNoAttributes = false
                        node.hasNoCapability = false
                    }
                    if let value {
                        try StoreCall.check(quire_any_fsetxattr(reference.raw, name, value, value.count, flags))
                    } else {
                        try StoreCall.check(quire_any_fremovexattr(reference.raw, name))
                    }
                    report(node, try StoreCall.status(of: reference), content: false)
                }
            }
            if case .success = done { tellChange(node, claim, thread) }
            answer(reply, done)
        }
    }

    func answerLater(
        _ reply: consuming Reply, _ size: Int, _ value: @escaping @Sendable () async -> [UInt8]?
    ) {
        let box = ReplyBox(reply)
        let request = RequestStatistics.postpone()
        Task { [self] in
            let value = await value()
            guard let reply = box.take() else { return }
            answer(reply, value.map { .success($0) } ?? .failure(DriverError(ENODATA)), size)
            statistics.finish(request)
        }
    }

    func answer(_ reply: consuming Reply, _ value: Result<[UInt8], DriverError>, _ size: Int) {
        switch value {
        case .success(let value) where size == 0: reply.attributeSize(value.count)
        case .success(let value) where value.count > size: reply.error(ERANGE)
        case .success(let value): reply.data(value)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// What a call that fills a buffer of `size` bytes wrote; with `size` 0, as many zeros as it would write.
    static func buffer(
        _ size: Int, _ call: (UnsafeMutableRawPointer?, Int) -> Int
    ) throws(DriverError) -> [UInt8] {
        if size == 0 {
            let count = call(nil, 0)
            guard count >= 0 else { throw DriverError.last() }
            return [UInt8](repeating: 0, count: count)
        }
        var failed: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, used in
            let count = call(buffer.baseAddress, size)
            if count < 0 { failed = errno }
            used = max(count, 0)
        }
        guard failed == 0 else { throw DriverError(failed) }
        return bytes
    }
}

/// What becomes of an extended attribute, by its name, which is bytes.
enum AttributeName: Sendable {
    case own(String)
    /// `user.xdg.tags`, by which file managers know the item's tags.
    case tags
    /// Kept in the store under this name, which ends with NUL. The kernel has checked the caller's right to it.
    case stored([CChar])
    case unsupported

    init(kernel name: UnsafePointer<CChar>) {
        let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
        if bytes.starts(with: Driver.ownPrefix.utf8) {
            self = .own(String(decoding: bytes.dropFirst(Driver.ownPrefix.utf8.count), as: UTF8.self))
        } else if bytes.elementsEqual(Driver.tagsName.utf8) {
            self = .tags
        } else if Self.isStored(bytes) {
            self = .stored(Array(UnsafeBufferPointer(start: name, count: bytes.count + 1)))
        } else {
            self = .unsupported
        }
    }

    /// What the daemon calls an attribute of the driver's own.
    var ownName: String {
        if case .own(let name) = self { name } else { "tags" }
    }

    /// Not the labels of SELinux: told that there are none here, `ls -l` asks once, not for each file. Not ACLs: the kernel
    /// checks modes only.
    static func isStored(_ name: some Collection<UInt8>) -> Bool {
        if name.elementsEqual("security.selinux".utf8) || name.starts(with: Driver.ownPrefix.utf8) { return false }
        return ["user.", "trusted.", "security."].contains { name.starts(with: $0.utf8) }
    }
}
