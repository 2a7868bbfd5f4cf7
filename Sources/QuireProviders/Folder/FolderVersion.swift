import CLinux
import Glibc
import QuireCore

/// How facts become the opaque words of the contract.
///
/// A file's version is its inode, the inode's birth, its size and its mtime. Every put makes a new inode; every edit in
/// place sets mtime; a move and a chmod change neither. The birth keeps an inode number that is used again apart. Where
/// the filesystem tells no birth, the change time takes its place, and a move does change the version.
///
/// Where inode numbers do not stay, 0 takes the inode's place, and nothing the change time's: birth, where it is told, size
/// and mtime make the version.
struct FolderVersion: Sendable, Hashable {
    /// A file has the same inode number as long as it is there. FAT, exFAT and most of FUSE make up another one each time that
    /// the disk is mounted.
    var inodesStay = true
    /// What the disk keeps of a time, in nanoseconds; until a file is read from it again, its times may be finer.
    var timeUnit: Int64 = 1

    /// A file keeps the mode and the time that are set, to the nanosecond; otherwise its mode says nothing of it.
    var keepsAttributes = true

    init() {}

    /// What is known of the filesystem that an open file is on, by its type (`linux/magic.h`).
    ///
    /// A network share without inode numbers of its server looks like any other, and counts as one that has them.
    init(filesystemOf file: Int32) {
        var found = statfs()
        guard fstatfs(file, &found) == 0 else { return }
        switch Int(found.f_type) {
        case 0x4D44, 0x6573_5546: inodesStay = false  // FAT, FUSE
        case 0x2011_BAB0: (inodesStay, timeUnit) = (false, 10_000_000)  // exFAT
        default: break
        }
    }

    func version(of facts: FileFacts) -> ProviderVersion {
        let inode = inodesStay ? facts.inode : 0
        let birth = facts.birth.map { UInt64(bitPattern: kept($0).nanoseconds) }
        switch facts.kind {
        case .directory:
            return ProviderVersion(Self.joined(0x64, [inode, birth ?? 0]))
        default:
            let mtime = UInt64(bitPattern: kept(facts.mtime).nanoseconds)
            let size = UInt64(bitPattern: facts.size)
            let letter: UInt8 = facts.kind == .symlink ? 0x6C : 0x66
            guard let birth = birth ?? (inodesStay ? nil : 0) else {
                let change = UInt64(bitPattern: facts.ctime.nanoseconds)
                return ProviderVersion(Self.joined(letter - 0x20, [inode, change, size, mtime]))
            }
            return ProviderVersion(Self.joined(letter, [inode, birth, size, mtime]))
        }
    }

    /// A version that no later look gives again: for a file that was written so recently that its times prove nothing.
    func unsettled(_ facts: FileFacts) -> ProviderVersion {
        ProviderVersion("\(version(of: facts))~\(String(UInt64.random(in: 0 ... .max), radix: 16))")
    }

    /// Nil where birth is not told or inode numbers do not stay, and for a file with several names, which would share it.
    func identifier(of facts: FileFacts) -> String? {
        guard inodesStay, let birth = facts.birth else { return nil }
        guard facts.kind == .directory || facts.linkCount == 1 else { return nil }
        return Self.joined(0x69, [facts.inode, UInt64(bitPattern: birth.nanoseconds)])
    }

    func item(
        _ path: RelativePath, _ facts: FileFacts, target: [UInt8]? = nil, version: ProviderVersion? = nil,
        checksum: ContentChecksum? = nil
    ) -> RemoteItem {
        RemoteItem(
            path: path, kind: facts.kind, version: version ?? self.version(of: facts),
            size: facts.kind == .directory ? .zero : ByteCount(max(0, facts.size)), mtime: kept(facts.mtime),
            mode: facts.kind == .symlink || !keepsAttributes ? nil : facts.mode, identifier: identifier(of: facts),
            checksum: checksum, symlinkTarget: target)
    }

    private func kept(_ time: FileTime) -> FileTime {
        let (quotient, remainder) = time.nanoseconds.quotientAndRemainder(dividingBy: timeUnit)
        guard remainder < 0 else { return FileTime(nanoseconds: quotient * timeUnit) }
        let (floor, overflow) = ((quotient - 1) &* timeUnit, time.nanoseconds < .min + timeUnit)
        return overflow ? time : FileTime(nanoseconds: floor)
    }

    /// `letter` and the numbers in hexadecimal, joined by `-`.
    private static func joined(_ letter: UInt8, _ numbers: [UInt64]) -> String {
        String(unsafeUninitializedCapacity: 1 + 17 * numbers.count) { buffer in
            buffer[0] = letter
            var end = 1
            for number in numbers {
                buffer[end] = 0x2D
                end += 1
                var shift = number == 0 ? 0 : (63 - number.leadingZeroBitCount) & ~3
                while shift >= 0 {
                    let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15
                    buffer[end] = digit < 10 ? 0x30 + digit : 0x57 + digit
                    end += 1
                    shift -= 4
                }
            }
            return end
        }
    }
}
