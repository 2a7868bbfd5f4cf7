import QuireCore

/// Change records as objects of a bucket.
struct S3ChangeRecords: ChangeRecordStore {
    let client: S3Client
    /// Whether the store keeps what is there when it is to create; otherwise of two that are created at the same moment one
    /// is lost.
    let createsOnce: Bool

    var keepsFirst: Bool { createsOnce }

    func read(_ number: Int) async throws(ProviderError) -> [UInt8]? {
        try await client.get(key(number), limit: ChangeRecord.limit)
    }

    func create(_ number: Int, _ bytes: [UInt8]) async throws(ProviderError) -> Bool {
        if !createsOnce, try await read(number) != nil { return false }
        let answer = try await client.put(key(number), .bytes(bytes), createsOnce ? .absent : .none)
        if answer.isSuccess { return true }
        if [409, 412].contains(answer.status) { return false }
        throw client.error(answer, "the record of what changed cannot be written")
    }

    func numbers() async throws(ProviderError) -> [Int] {
        let directory = client.address.directoryKey(StoreLayout.changes)
        return try await client.listAll(directory).compactMap { object in
            StoreLayout.changeNumber(FileName(unchecked: Array(object.key.dropFirst(directory.count))))
        }
    }

    func remove(_ number: Int) async throws(ProviderError) {
        let answer = try await client.delete(key(number))
        guard answer.isSuccess || answer.status == 404 else {
            throw client.error(answer, "an old record of what changed cannot be removed")
        }
    }

    private func key(_ number: Int) -> [UInt8] { client.address.key(StoreLayout.change(number)) }
}
