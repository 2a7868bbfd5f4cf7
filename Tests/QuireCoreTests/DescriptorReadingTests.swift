import Glibc
import QuireCore
import Testing

@Suite("Reading a descriptor")
struct DescriptorReadingTests {
    /// For another thread.
    private final class Outcome: @unchecked Sendable {
        let descriptor: Int32
        var bytes: [UInt8]?

        init(_ descriptor: Int32) { self.descriptor = descriptor }
    }

    @Test("A signal breaks no read off")
    func signals() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        var (action, before) = (sigaction(), sigaction())
        action.__sigaction_handler.sa_handler = { _ in }
        // Without SA_RESTART.
        try #require(sigaction(SIGURG, &action, &before) == 0)
        defer { sigaction(SIGURG, &before, nil) }
        let outcome = Outcome(ends[0])
        var thread = pthread_t()
        let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            guard let argument else { return nil }
            let outcome = Unmanaged<Outcome>.fromOpaque(argument).takeUnretainedValue()
            outcome.bytes = try? DescriptorReading.rest(of: outcome.descriptor)
            return nil
        }
        try #require(pthread_create(&thread, nil, body, Unmanaged.passUnretained(outcome).toOpaque()) == 0)
        for round in 0..<1000 {
            pthread_kill(thread, SIGURG)
            sched_yield()
            if round % 100 == 99 { #expect(write(ends[1], "a", 1) == 1) }
        }
        close(ends[1])
        pthread_join(thread, nil)
        #expect(outcome.bytes == Array(repeating: UInt8(ascii: "a"), count: 10))
    }

    @Test(
        "The beginning of a file is as long as asked, or as the file is; no position moves",
        arguments: [(0, ""), (1, "a"), (3, "abc"), (4, "abcd"), (100, "abcd"), (-1, "")])
    func beginning(limit: Int, wanted: String) throws {
        var name = Array("/tmp/quire-beginning-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        defer { close(descriptor) }
        #expect(unlink(name) == 0)
        #expect(write(descriptor, "abcd", 4) == 4)
        #expect(try DescriptorReading.beginning(of: descriptor, limit: limit) == Array(wanted.utf8))
        #expect(lseek(descriptor, 0, SEEK_CUR) == 4)
        #expect(try DescriptorReading.next(from: descriptor, most: limit) == [])
    }

    @Test("What cannot be read is an error that says why")
    func errors() {
        #expect(throws: QuireError.self) { try DescriptorReading.next(from: -1) }
        #expect(throws: QuireError.self) { try DescriptorReading.beginning(of: -1, limit: 1) }
    }
}
