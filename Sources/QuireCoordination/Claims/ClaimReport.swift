/// One holder or waiter, for people.
package struct ClaimReport: Sendable, Equatable {
    package let id: ClaimID
    /// Held; else waiting.
    package let isHeld: Bool
    package let purpose: Purpose
    package let client: ClientID?
    package let processID: Int32?
    /// With the paths of now.
    package let accesses: [Access]
    /// Since it was asked for.
    package let age: Duration
    /// For a waiter: one claim that is in its way, the latest asked for where several are.
    package let waitsFor: ClaimID?
    /// For a request whose turn has come: the presenters that it still waits for.
    package internal(set) var asks: [PresenterID] = []

    /// One line: the claim, its purpose and process, its items.
    package var summary: String {
        let process = processID.map { ", pid \($0)" } ?? ""
        let items = accesses.map { access in
            switch access.intent {
            case .reading: "reading \(access.path)"
            case .writing(.inPlace): "writing \(access.path)"
            case .writing(let option): "writing \(access.path) (\(option))"
            }
        }
        return "\(id) (\(purpose)\(process)) \(items.joined(separator: ", "))"
    }
}
