import CLinux
import Glibc
import QuireCore

/// What a folder's filesystem can do, found by trying it in `.quire/tmp`.
struct FolderProbe {
    var exchange = true
    var noReplace = true
    var birthTimes = true
    var symlinks = true
    var arbitraryNames = true
    var folding: NameFolding = []
    var longestName = 255
    /// A name that ends in one of these is the same to the filesystem without it.
    var cutEndings: [UInt8] = []
    var versions = FolderVersion()
    /// How long after its mtime a file may be written again with the same mtime.
    var granularity: Int64 = Fingerprint.racyWindowNanoseconds
    /// What stamps its files; nil where none can be made.
    var clock: FolderClock?

    /// Where a try fails for lack of room or rights, the answer is what a Linux filesystem usually can.
    init(_ session: borrowing FolderSession) {
        let directory = session.temporary.descriptor
        clock = FolderClock(session)
        birthTimes = session.marker.birth != nil
        versions = FolderVersion(filesystemOf: session.root.descriptor)
        var limits = statvfs()
        if fstatvfs(session.root.descriptor, &limits) == 0, limits.f_namemax > 0 {
            longestName = min(Int(limits.f_namemax), 255)
        }
        let first = FolderLayout.stagingName()
        let second = FolderLayout.stagingName()
        defer { for name in [first, second] { try? SystemCalls.unlink(at: directory, name) } }
        guard Self.make(first, in: directory), Self.make(second, in: directory) else { return }
        probeAttributes(first, in: directory)
        exchange = Self.isDone { () throws(SystemFailure) in
            try Placement.exchange((directory, first), with: (directory, second))
        }
        do throws(SystemFailure) {
            try SystemCalls.rename((directory, first), to: (directory, second), flags: quire_RENAME_NOREPLACE)
        } catch {
            noReplace = error.code == EEXIST
        }
        probeNames(in: directory)
    }

    var capabilities: ProviderCapabilities {
        ProviderCapabilities(
            conditionalWrites: exchange && noReplace ? .atomic : .locked,
            stableIdentifiers: birthTimes && versions.inodesStay,
            directoryMoves: true, symlinks: symlinks, attributes: versions.keepsAttributes,
            arbitraryNames: arbitraryNames, folding: folding, longestName: longestName,
            versionGranularity: .nanoseconds(granularity))
    }

    /// What a folder is taken for until it was probed.
    static let unprobed = ProviderCapabilities(
        conditionalWrites: .atomic, stableIdentifiers: true, directoryMoves: true, symlinks: true, attributes: true,
        arbitraryNames: true, versionGranularity: .nanoseconds(Fingerprint.racyWindowNanoseconds))

    private mutating func probeAttributes(_ name: FileName, in directory: Int32) {
        guard let file = try? SystemCalls.open(at: directory, name, O_RDWR) else { return }
        guard (try? SystemCalls.setTimes(of: file.descriptor, mtime: Self.tried.mtime)) != nil,
            (try? SystemCalls.setMode(of: file.descriptor, Self.tried.mode)) != nil,
            let facts = try? SystemCalls.status(of: file.descriptor)
        else {
            versions.keepsAttributes = false
            return
        }
        take(facts)
    }

    /// The mode and the time that a file is given, to see what of them it keeps.
    static let tried = (mode: UInt16(0o640), mtime: FileTime(nanoseconds: 1_000_000_001_123_456_789))

    /// Concludes from what a file has that was given these.
    mutating func take(_ facts: FileFacts) {
        let tried = Self.tried
        // With times that come back as others, everything would count as edited for ever.
        versions.keepsAttributes = facts.mode == tried.mode && facts.mtime == tried.mtime
        switch facts.mtime {
        case tried.mtime: break
        case let time where time.seconds == tried.mtime.seconds:
            granularity = time.subsecondNanoseconds == 0 ? 1_020_000_000 : granularity
        default: granularity = 2_020_000_000
        }
    }

    private mutating func probeNames(in directory: Int32) {
        let link = FolderLayout.stagingName()
        symlinks = Self.isDone { () throws(SystemFailure) in
            try SystemCalls.makeSymlink(at: directory, link, target: [0x61])
        }
        try? SystemCalls.unlink(at: directory, link)
        let odd = FileName(unchecked: FolderLayout.stagingName().bytes + [0xFF])
        arbitraryNames = Self.make(odd, in: directory)
        try? SystemCalls.unlink(at: directory, odd)
        for trial in FoldingTrial.all {
            let name = FolderLayout.stagingName()
            let (written, other) = (trial.written(name), trial.other(name))
            guard Self.make(written, in: directory) else { continue }
            if (try? SystemCalls.status(at: directory, other)) != nil { folding.insert(trial.folding) }
            try? SystemCalls.unlink(at: directory, written)
        }
        for ending in [0x2E, 0x20] as [UInt8] {
            let name = FolderLayout.stagingName()
            let written = FileName(unchecked: name.bytes + [ending])
            guard Self.make(written, in: directory) else { continue }
            if (try? SystemCalls.status(at: directory, name)) != nil { cutEndings.append(ending) }
            try? SystemCalls.unlink(at: directory, written)
        }
    }

    private static func make(_ name: FileName, in directory: Int32) -> Bool {
        isDone { () throws(SystemFailure) in
            _ = try SystemCalls.open(at: directory, name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        }
    }

    private static func isDone(_ body: () throws(SystemFailure) -> Void) -> Bool {
        do throws(SystemFailure) {
            try body()
            return true
        } catch {
            return error.code == ENOSPC || error.code == EDQUOT
        }
    }
}
