import QuireCore
import QuireProviders

extension MemoryProvider {
    /// One whose devices tell each other what they change.
    static func announcing() -> MemoryProvider {
        var capabilities = full
        capabilities.announcements = true
        return MemoryProvider(capabilities: capabilities)
    }
}
