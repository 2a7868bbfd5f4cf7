/// How a drive is mounted.
package struct MountOptions: Sendable, Equatable {
    /// What the kernel's list of mounts shows as the source.
    package var source: String
    /// Let other users in; the modes decide what they may. Root only, or with `user_allow_other` in /etc/fuse.conf.
    package var allowOther: Bool
    /// Use kernel passthrough where the kernel and the privileges allow it.
    package var passthrough: Bool
    /// Without passthrough, let the kernel collect writes and send them when a file is closed or synced, at the latest.
    package var collectsWrites: Bool
    /// Threads that read requests, 1 … 16: one at a time, the others stand in for it when it is held up.
    package var readers: Int
    /// Further options for the kernel, as after `-o`.
    package var others: [String]
    /// Directory descriptors that are kept open; nil: a quarter of what the process may have, 4,096 at the most.
    package var descriptorCache: Int?
    /// Log every request, at the level `debug`.
    package var traces: Bool

    /// Where remote changes are made by calls on the mount, so that programs that watch see them; nil: nowhere.
    package var voice: VoiceProgram?

    /// How many threads read requests, if nothing else is said.
    package static let defaultReaders = 4

    package init(
        source: String = "quire", allowOther: Bool = false, passthrough: Bool = true,
        collectsWrites: Bool = true,
        readers: Int = MountOptions.defaultReaders,
        others: [String] = [],
        descriptorCache: Int? = nil, traces: Bool = false, voice: VoiceProgram? = nil
    ) {
        self.source = source
        self.allowOther = allowOther
        self.passthrough = passthrough
        self.collectsWrites = collectsWrites
        self.readers = min(max(readers, 1), 16)
        self.others = others
        self.descriptorCache = descriptorCache
        self.traces = traces
        self.voice = voice
    }
}
