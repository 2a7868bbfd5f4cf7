import CFuse
import Glibc
import QuireCore
import QuireStore

extension Driver {
    /// LOOKUP: a name in a directory. What is not there is remembered by the kernel as not there.
    func lookUp(_ reply: consuming Reply, _ directory: Node, _ name: FileName) {
        if isOwn(reply), MountVoice.isToken(name) { return lookUpStaged(reply, directory, name) }
        if retries.isEmpty { return performLookUp(reply, directory, name) }
        waitForRetry(reply) { driver, reply in driver.performLookUp(reply, directory, name) }
    }

    private func performLookUp(_ reply: consuming Reply, _ directory: Node, _ name: FileName) {
        let moment = table.moment
        let found = Result { () throws(DriverError) -> (Node, stat)? in
            try gate.shared { () throws(DriverError) -> (Node, stat)? in
                let descriptor = try resolver.directory(directory)
                guard let status = try StoreCall.statusIfAny(in: descriptor, name) else { return nil }
                return (meet(status, in: directory, name, descriptor.raw), status)
            }
        }
        switch found {
        case .success((let node, let status)?):
            tell(reply.caller.pid, name, isThere: true)
            answer(reply, entry: node, status, asOf: moment)
        case .success(nil):
            tell(reply.caller.pid, name, isThere: false)
            reply.noEntry()
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// A thread that was answered ESTALE learns of a name, with which its call may end.
    private func tell(_ thread: pid_t, _ name: FileName, isThere: Bool) {
        retries.note(thread, name, isThere: isThere)
        staleAnswers.settle(thread, name, isThere: isThere)
    }

    /// Answers with an entry whose lookup was counted already, and takes the count back if the kernel did not get it.
    func answer(_ reply: consuming Reply, entry node: Node, _ status: stat, asOf moment: UInt? = nil) {
        if !reply.entry(table.identifier(node), table.shown(status, of: node, asOf: moment)) { table.forget(node, 1) }
    }

    /// The node of a file that the kernel is about to be given once more. Call inside the gate.
    ///
    /// - Parameter descriptor: of the directory, in the store.
    func meet(_ status: stat, in directory: Node, _ name: FileName, _ descriptor: CInt) -> Node {
        let file = FileStatus(status)
        let node = table.lookUp(file, in: directory, name: name)
        guard Placeholder.isCandidate(file), table.locked({ _ in node.shownInode == nil }) else { return node }
        // What cannot be opened shows itself where it is used.
        if (try? isDataless(name, in: descriptor, status)) == true {
            table.locked { state in node.makeDetails().shownInode = state.makeShownInode() }
        }
        return node
    }

    /// Answers an operation that yields a new entry.
    func answer(_ reply: consuming Reply, _ made: Result<(Node, stat), DriverError>) {
        switch made {
        case .success((let node, let status)): answer(reply, entry: node, status)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// Answers an operation that yields nothing.
    func answer(_ reply: consuming Reply, _ done: Result<Void, DriverError>) {
        switch done {
        case .success: reply.error(0)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// READLINK.
    func readLink(_ reply: consuming Reply, _ node: Node) {
        let target = Result { () throws(DriverError) -> [CChar] in
            let descriptor = try resolver.reference(node)
            var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            let length = readlinkat(descriptor.raw, "", &target, target.count - 1)
            guard length >= 0 else { throw DriverError.last() }
            return target
        }
        switch target {
        case .success(let target): reply.link(target)
        case .failure(let error): reply.error(error.errno)
        }
    }
}
