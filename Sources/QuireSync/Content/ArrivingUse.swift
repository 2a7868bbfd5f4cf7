/// That somebody uses an arriving document: while one lives, the document is not idle.
final class ArrivingUse: Sendable {
    let document: ArrivingDocument

    init(_ document: ArrivingDocument) {
        self.document = document
        document.enter()
    }

    deinit { document.leave() }
}
