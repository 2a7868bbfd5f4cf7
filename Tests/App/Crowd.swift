import Foundation
import Quire

/// Many accesses to one document at once, each with a coordinator of its own.
enum Crowd {
    static func run(_ count: Int, _ url: URL) async {
        let failures = await withTaskGroup(of: String?.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        try await FileCoordinator().coordinate(writingItemAt: url, options: .forMerging) { url in
                            let text = try String(contentsOf: url, encoding: .utf8)
                            try Data((text + "\(number)\n").utf8).write(to: url)
                        }
                        return nil
                    } catch {
                        return Output.describe(error)
                    }
                }
            }
            return await group.reduce(into: [String]()) { found, failure in if let failure { found.append(failure) } }
        }
        Output.line("crowd", "\(failures.count)", failures.first ?? "")
    }
}
