/// Nodes by the store's inode: a dictionary in many parts.
///
/// A part grows and shrinks by itself, in well under a millisecond: a single dictionary of a million would hold up all
/// requests while it is copied to one twice as large, and would stay as large as it ever was.
struct InodeTable {
    private static let partBits: UInt64 = 8
    /// Parts smaller than this stay as they are.
    private static let smallest = 64

    private var parts = [[UInt64: Node]](repeating: [:], count: 1 << Int(partBits))
    private(set) var count = 0

    /// Room for how many there is.
    var capacity: Int { parts.reduce(0) { $0 + $1.capacity } }

    subscript(inode: UInt64) -> Node? {
        get { parts[Self.part(inode)][inode] }
        set {
            let part = Self.part(inode)
            if let newValue {
                if parts[part].updateValue(newValue, forKey: inode) == nil { count += 1 }
            } else if parts[part].removeValue(forKey: inode) != nil {
                count -= 1
                shrink(part)
            }
        }
    }

    /// Inodes that were given out together lie in different parts (Fibonacci hashing).
    private static func part(_ inode: UInt64) -> Int { Int((inode &* 0x9E37_79B9_7F4A_7C15) >> (64 - partBits)) }

    /// Gives back three quarters that are empty.
    private mutating func shrink(_ part: Int) {
        let present = parts[part].count
        guard parts[part].capacity > Self.smallest, present < parts[part].capacity / 4 else { return }
        var smaller = [UInt64: Node](minimumCapacity: present * 2)
        for (inode, node) in parts[part] { smaller[inode] = node }
        parts[part] = smaller
    }
}
