import QuireCore

/// Removes what crashes left in `.quire/tmp`, and directories that were deleted long ago.
enum DAVSweep {
    /// Younger entries may belong to a call that is under way on another device.
    private static let age = 24 * 3600

    /// Removes entries that are more than a day older than the youngest thing there is, which is what the probe has just
    /// left: both times are the server's. What cannot be removed now is left for the next time.
    static func run(_ client: DAVClient) async {
        let mark = StoreLayout.temporary.appending("now" as FileName)
        guard let put = try? await client.put(mark, .none), put.isSuccess,
            let found = try? await client.propfind(StoreLayout.temporary, depth: "1", isDirectory: true),
            let now = found.first(where: { $0.path == mark })?.resource.modified
        else { return }
        for (path, resource) in found where path != StoreLayout.temporary && path != mark {
            guard let modified = resource.modified, now.seconds - modified.seconds > age else { continue }
            _ = try? await client.delete(path, isDirectory: resource.isDirectory)
        }
        _ = try? await client.delete(mark)
        await sweepEmptied(client, today: DAVLayout.day(now))
    }

    private static func sweepEmptied(_ client: DAVClient, today: Int) async {
        let found = try? await client.propfind(DAVLayout.emptied, depth: "1", isDirectory: true)
        for (path, _) in found ?? [] where path.parent == DAVLayout.emptied {
            guard let name = path.name, let day = Int("\(name)"), today - day > DAVLayout.daysEmptied,
                (try? await isEmpty(path, client)) == true
            else { continue }
            _ = try? await client.delete(path, isDirectory: true)
        }
    }

    /// Whether a directory shows nothing but directories, in which nothing shows: what the server did not show may have been made
    /// readable since.
    private static func isEmpty(_ directory: RelativePath, _ client: DAVClient) async throws(ProviderError) -> Bool {
        for (path, resource) in try await client.list(directory) ?? [] where path != directory {
            guard resource.isDirectory, try await isEmpty(path, client) else { return false }
        }
        return true
    }
}
