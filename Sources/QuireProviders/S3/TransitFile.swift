import FoundationEssentials
import Glibc
import QuireCore

/// Room on this device for a document on its way from one place at a store to another; gone with the value.
final class TransitFile: Sendable {
    private let directory: String
    /// Where the document goes; nothing is there yet.
    var path: String { directory + "/document" }

    /// - Throws: `.failed` where there is no room for temporary files.
    init() throws(ProviderError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var template = Array("\(parent)/quire-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ProviderError(.failed, "\(parent) takes no temporary files", cause: ErrnoTranslation.text(errno))
        }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        _ = unlink(path)
        _ = rmdir(directory)
    }
}
