import Foundation

/// The proxy of `Tests/Servers/weather`, in a process of its own: what lies between drives and a server, and does harm.
///
/// `@unchecked Sendable`: process and pipes are set once; each command and its answer go under `lock`.
final class Weather: @unchecked Sendable {
    /// What is to go wrong; `faults.py` says what each fault is.
    struct Rule: Encodable, Sendable {
        var fault: String
        var chance: Double?
        var methods: [String]?
        /// A regular expression, searched for in the request's target.
        var path: String?
        var status: Int?
        var retryAfter: Int?
        var seconds: Double?
        var times: Int?
        var skip: Int?

        enum CodingKeys: String, CodingKey {
            case fault, chance, methods, path, status, seconds, times, skip
            case retryAfter = "retry_after"
        }
    }

    /// What came by so far.
    struct Count: Decodable, Sendable {
        var requests: Int
        var connections: Int
        /// Requests that nothing more is heard of.
        var silent: Int
        var faults: [String: Int]
    }

    /// One way to a server, with rules of its own.
    struct Front: Sendable {
        let name: String
        let port: Int
        fileprivate let weather: Weather

        /// From now on this goes wrong, and nothing else.
        func set(_ rules: [Rule]) throws { try weather.obey(["set": .text(name), "rules": .rules(rules)]) }

        func set(_ rules: Rule...) throws { try set(rules) }

        /// Good weather.
        func clear() throws { try set([]) }

        /// Connections are refused, and those there are end.
        func down() throws { try weather.obey(["down": .text(name)]) }

        func up() throws { try weather.obey(["up": .text(name)]) }

        var count: Count {
            get throws {
                try JSONDecoder().decode(Count.self, from: try weather.obey(["count": .text(name)]))
            }
        }
    }

    private enum Word: Encodable {
        case text(String)
        case rules([Rule])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .rules(let rules): try container.encode(rules)
            }
        }
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let lock = NSLock()

    /// - Parameter log: a file for all requests and answers; see `front.py`. `QUIRE_LOGS` names a directory for one.
    init(seed: Int = 0, log: String? = nil) throws {
        let log = log ?? Workspace.keptLogs.map { "\($0)/weather-\(seed).log" }
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["\(Machine.programs)/../../Servers/weather", "--seed", "\(seed)"]
        if let log {
            process.environment = ProcessInfo.processInfo.environment.merging(["QUIRE_WEATHER_LOG": log]) { $1 }
        }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { process.terminate() }

    /// A new way to the server at `authority` (host and port).
    func front(_ name: String, to authority: String) throws -> Front {
        let answer = try obey(["open": .text(name), "to": .text(authority)])
        let port = try JSON(String(decoding: answer, as: UTF8.self))("port").int
        return Front(name: name, port: port, weather: self)
    }

    @discardableResult
    private func obey(_ command: [String: Word]) throws -> Data {
        let line = try JSONEncoder().encode(command)
        return try lock.withLock {
            try input.fileHandleForWriting.write(contentsOf: line + Data("\n".utf8))
            var answer = Data()
            while answer.last != UInt8(ascii: "\n") {
                guard let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty else {
                    throw Trouble("the proxy has ended")
                }
                answer += byte
            }
            let text = String(decoding: answer, as: UTF8.self)
            if text.hasPrefix("{\"error\"") { throw Trouble("the proxy: \(text)") }
            return answer
        }
    }
}

/// Weather that several tests have.
enum WeatherRules {
    /// A little of everything.
    static let mixed: [Weather.Rule] = [
        .init(fault: "delay", chance: 0.2, seconds: 0.1), .init(fault: "reset-request", chance: 0.02),
        .init(fault: "reset-body", chance: 0.02), .init(fault: "reset-answer", chance: 0.02),
        .init(fault: "cut-answer", chance: 0.02), .init(fault: "short-answer", chance: 0.01),
        .init(fault: "lost", chance: 0.02, status: 504), .init(fault: "status", chance: 0.02, status: 500),
        .init(fault: "status", chance: 0.02, status: 401), .init(fault: "status", chance: 0.01, status: 503),
        .init(fault: "flip", chance: 0.02, methods: ["GET"], path: "^[^?]+$"), .init(fault: "etag", chance: 0.02),
    ]
}
