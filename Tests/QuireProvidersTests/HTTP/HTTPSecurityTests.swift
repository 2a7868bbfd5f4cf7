import Foundation
import Glibc
import QuireCore
import QuireProviders
import Testing

@Suite("Certificates")
struct HTTPSecurityTests {
    /// `openssl s_server` with a certificate that it signed itself.
    private final class Server: Sendable {
        let port: Int
        /// SHA-256 of the certificate.
        let fingerprint: String
        private let work: TemporaryDirectory
        private let process: Process

        init() throws {
            work = try TemporaryDirectory()
            let (key, certificate) = (work.appending("key.pem"), work.appending("certificate.pem"))
            let made = Shell.run(
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
                "-out", certificate, "-batch")
            try #require(made == 0, "openssl is needed")
            let der = work.appending("certificate.der")
            try #require(Shell.run("openssl", "x509", "-in", certificate, "-outform", "der", "-out", der) == 0)
            fingerprint = ContentChecksum.sha256(of: try #require(Plain.read(der))).description
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
            process.arguments = ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"]
            process.standardOutput = output
            process.standardInput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            self.process = process
            var text = ""
            var found: Int?
            while found == nil {
                let more = try DescriptorReading.next(from: output.fileHandleForReading.fileDescriptor)
                try #require(!more.isEmpty, "openssl s_server did not start: \(text)")
                text += String(decoding: more, as: UTF8.self)
                found = text.firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)\s/).flatMap { Int($0.1) }
            }
            port = try #require(found)
        }

        // It inherits the signals that a thread of the pool blocks: no other one ends it.
        deinit { kill(process.processIdentifier, SIGKILL) }
    }

    private func status(_ server: Server, _ host: String, pin: String?) async -> Result<Int, ProviderError> {
        let transport = HTTPTransport(
            origin: HTTPOrigin(isSecure: true, host: host, port: server.port),
            pin: pin.flatMap(CertificatePin.init(hex:)))
        do throws(ProviderError) {
            return .success(try await transport.send(HTTPRequest("GET", "/")).status)
        } catch {
            return .failure(error)
        }
    }

    @Test("A certificate that no authority signed is refused, and accepted when it is the pinned one")
    func pinning() async throws {
        let server = try Server()
        let unknown = await status(server, "localhost", pin: nil)
        #expect(unknown.failure?.code == .unavailable)
        #expect(unknown.failure?.message.contains("cannot be trusted") ?? false)
        #expect(try await status(server, "localhost", pin: server.fingerprint).get() == 200)
        #expect(try await status(server, "127.0.0.1", pin: server.fingerprint.uppercased()).get() == 200)
        let other = String(server.fingerprint.reversed())
        let wrong = await status(server, "localhost", pin: other)
        #expect(wrong.failure?.message.contains("another certificate") ?? false)
    }

    @Test("A pin is 64 hexadecimal digits")
    func pins() {
        let hex = String(repeating: "a1", count: 32)
        #expect(CertificatePin(hex: hex) != nil)
        #expect(CertificatePin(hex: stride(from: 0, to: 32, by: 1).map { _ in "A1" }.joined(separator: ":")) != nil)
        #expect(CertificatePin(hex: hex) == CertificatePin(hex: hex.uppercased()))
        for text in ["", "a1", hex + "0", hex.dropLast() + "g"] { #expect(CertificatePin(hex: String(text)) == nil) }
    }

    @Test("A server without TLS is not spoken to as if it had it")
    func plainServer() async throws {
        let server = try LoopbackServer { peer in
            _ = peer.read()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: true, host: "127.0.0.1", port: server.port))
        #expect(await refusal { try await transport.send(HTTPRequest("GET", "/")) } == .unavailable)
    }
}
