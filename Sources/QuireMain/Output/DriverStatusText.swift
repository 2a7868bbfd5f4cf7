import QuireCore

/// What the driver does, as a table for people.
enum DriverStatusText {
    static func lines(_ status: DriverStatus) -> String {
        let passthrough = status.passthroughObstacle.map { "no: \($0)" } ?? "yes"
        let rows = [
            ("Drive", status.mountpoint),
            ("Protocol", "\(status.protocolVersion) (the kernel's is \(status.kernelProtocolVersion))"),
            ("Passthrough", passthrough),
            ("Writeback", status.writebackCache ? "yes" : "no"),
            ("Readers", status.readers == 1 ? "1 thread" : "\(status.readers) threads"),
            (
                "Waiting",
                "\(grouped(status.parked)) requests; \(grouped(status.interrupted)) interrupted since the mount"
            ),
            ("Nodes", grouped(status.nodes)),
            ("Directories", usage(status.directoryDescriptors) + " descriptors"),
            ("Open files", grouped(status.openFiles)),
            ("Descriptors", usage(status.descriptors)),
            ("Queued", "\(grouped(status.queuedEvents)) changes for the index"),
        ]
        return rows.map { $0.padded(to: 13) + $1 }.joined(separator: "\n") + table(status.requests)
    }

    private static func table(_ requests: [DriverStatus.Requests]) -> String {
        guard !requests.isEmpty else { return "" }
        var rows = [["REQUEST", "COUNT", "P50", "P99", "LONGEST", "TOTAL"]]
        for request in requests where request.atOnce.count > 0 {
            rows.append([request.kind] + cells(request.atOnce))
        }
        for request in requests where request.waited.count > 0 {
            rows.append(["\(request.kind), waited"] + cells(request.waited))
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            row.indices.map { column in
                let blanks = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + blanks : blanks + row[column]
            }.joined(separator: "  ")
        }
        return "\n\n" + lines.joined(separator: "\n")
    }

    private static func cells(_ times: DriverStatus.Times) -> [String] {
        [grouped(times.count), time(times.p50), time(times.p99), time(times.longest), time(times.total)]
    }

    /// `0.8 µs`, `14 µs`, `3.2 ms`, `41 s`.
    static func time(_ microseconds: Double) -> String {
        switch microseconds {
        case ..<1000: "\(digits(microseconds)) µs"
        case ..<1_000_000: "\(digits(microseconds / 1000)) ms"
        default: "\(digits(microseconds / 1_000_000)) s"
        }
    }

    /// One digit after the point below 10, none above.
    private static func digits(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths < 10 ? "\(tenths)" : "\(Int(value.rounded()))"
    }

    private static func usage(_ usage: DriverStatus.Usage) -> String {
        "\(grouped(usage.used)) of \(grouped(usage.limit))"
    }

    /// `12,345`.
    static func grouped(_ number: some BinaryInteger) -> String {
        var groups: [Substring] = []
        var rest = Substring(String(number))
        while rest.count > 3 {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return ([rest] + groups).joined(separator: ",")
    }
}
