import QuireCore

/// The steps of an order that were not carried out: what is at the provider is not what the steps after them assume.
///
/// A step waits with them that is about the same item, lies in what they were to make or to move, or deletes a directory that
/// they were to leave. Sent all the same, an item that is not moved yet would be recorded at its new path, and a pull take it for
/// one that was deleted there.
struct UndoneSteps {
    private var items: Set<Int> = []
    private var places: Set<RelativePath> = []
    private var directories = DirectorySet()

    /// - Parameter paths: where the step works.
    mutating func insert(_ step: PushOrder.Step, at paths: [RelativePath]) {
        items.insert(step.item)
        places.formUnion(paths)
        for path in paths { directories.insert(above: path) }
    }

    func holdUp(_ step: PushOrder.Step, at paths: [RelativePath]) -> Bool {
        guard !items.isEmpty else { return false }
        if items.contains(step.item) || paths.contains(where: { $0.isInside(anyOf: places) }) { return true }
        if case .delete(_, let path) = step { return directories.contains(path) }
        return false
    }
}
