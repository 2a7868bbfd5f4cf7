import QuireCore
import QuireSync

extension DriveStatus.Held {
    /// What is held, and why; and what to do.
    var words: [String] {
        let what = count == 1 ? "1 deletion" : "\(count) deletions"
        let rest = count - paths.count
        let names = paths.map(\.path.description).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        let reason =
            switch side {
            case .provider: "missing at \(provider), kept on this device"
            case .device: "missing on this device, kept at \(provider)"
            }
        return ["\(what), not believed as they are so many: \(reason): \(names)", Self.remedy(side, provider)]
    }

    /// Both ways out.
    static func remedy(_ side: Side, _ provider: String) -> String {
        switch side {
        case .provider:
            "`quire sync --confirm-deletes` deletes them here, too; `quire provider reset \(provider) --confirm` sends all again"
        case .device:
            "`quire sync --confirm-deletes` deletes them at \(provider), too; `quire provider reset \(provider) --confirm` "
                + "brings all here again"
        }
    }

    init(_ report: HeldDeletionsReport) {
        self.init(
            side: report.isMissingHere ? .device : .provider, provider: report.providerName, count: report.count,
            paths: report.first.map(WirePath.init))
    }
}
