import QuireCore

/// Where a drive's documents lie in an object store: a bucket, and a prefix in it.
package struct S3Address: Sendable, Hashable {
    /// Whom requests go to; with virtual-host style its name begins with the bucket's.
    package let origin: HTTPOrigin
    package let bucket: String
    /// As signatures name it; `us-east-1` where the store has none.
    package let region: String
    /// Percent-encoded path of the bucket: `/bucket`, or empty with virtual-host style.
    let base: String
    /// What every key begins with: empty, or ends with a slash.
    let prefix: [UInt8]

    /// - Parameters:
    ///   - endpoint: the store itself.
    ///   - prefix: below which documents lie, without slashes at its ends; empty for the whole bucket.
    ///   - isVirtualHost: the bucket is part of the host's name, as AWS prefers; else of the path, as most others do.
    package init(
        endpoint: HTTPOrigin, bucket: String, prefix: String, region: String = "us-east-1",
        isVirtualHost: Bool = false
    ) {
        var origin = endpoint
        if isVirtualHost { origin.host = "\(bucket).\(endpoint.host)" }
        self.origin = origin
        self.bucket = bucket
        self.region = region
        base = isVirtualHost ? "" : "/" + PercentEncoding.encode(bucket.utf8)
        self.prefix = prefix.isEmpty ? [] : Array("\(prefix)/".utf8)
    }

    /// Where this is, for people.
    package var place: String { "\(origin)\(base)/\(String(decoding: prefix.dropLast(), as: UTF8.self))" }

    /// The key of a document.
    func key(_ path: RelativePath) -> [UInt8] { prefix + path.bytes }

    /// What the keys below a directory begin with; itself the key of the directory's marker.
    func directoryKey(_ path: RelativePath) -> [UInt8] { path.isRoot ? prefix : prefix + path.bytes + [0x2F] }

    /// The percent-encoded request path of a key; slashes stay.
    func target(_ key: [UInt8]) -> String { "\(base)/\(Self.encoded(key))" }

    /// The percent-encoded request path of the bucket itself.
    var bucketTarget: String { base.isEmpty ? "/" : base }

    /// A key with the bucket, as the source of a copy is named.
    func copySource(_ key: [UInt8]) -> String { "/\(PercentEncoding.encode(bucket.utf8))/\(Self.encoded(key))" }

    private static func encoded(_ key: [UInt8]) -> String {
        key.split(separator: 0x2F, omittingEmptySubsequences: false).map { PercentEncoding.encode($0) }.joined(
            separator: "/")
    }

    /// What a key stands for; nil for keys that no file system can hold (`a//b`, `./a`), and for what is not below the
    /// prefix.
    func path(ofKey key: [UInt8]) -> (path: RelativePath, isMarker: Bool)? {
        guard key.starts(with: prefix), key.count > prefix.count else { return nil }
        var names = key[prefix.count...].split(separator: 0x2F, omittingEmptySubsequences: false).map(Array.init)
        let isMarker = names.last?.isEmpty ?? false
        if isMarker { names.removeLast() }
        let valid = names.compactMap { FileName($0) }
        guard valid.count == names.count, valid.allSatisfy({ $0.string != nil }), !valid.isEmpty else { return nil }
        return (RelativePath(valid), isMarker)
    }
}
