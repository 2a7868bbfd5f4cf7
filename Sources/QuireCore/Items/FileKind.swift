/// What kind of thing an item is.
public enum FileKind: String, Sendable, Codable, CaseIterable {
    case file
    case directory
    case symlink
    case fifo
    case socket
    case characterDevice
    case blockDevice

    /// Whether providers keep this kind. FIFOs, sockets and devices stay on this device (`local-only`).
    public var isSynced: Bool {
        switch self {
        case .file, .directory, .symlink: true
        case .fifo, .socket, .characterDevice, .blockDevice: false
        }
    }
}
