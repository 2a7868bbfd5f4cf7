import Crypto
import NIOCore
import NIOSSL

/// The one certificate that a server may show: its SHA-256, over the DER form.
package struct CertificatePin: Sendable, Hashable {
    private let digest: [UInt8]

    /// Reads 64 hexadecimal digits, with or without colons; nil for anything else.
    package init?(hex: String) {
        let digits = hex.filter { $0 != ":" }.map { $0.hexDigitValue }
        guard digits.count == 64, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        digest = stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// Fails where the other end of a fresh TLS connection shows another certificate, and closes it.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
            guard let certificate, try Array(SHA256.hash(data: certificate.toDERBytes())) == digest else {
                throw Mismatch()
            }
        }.flatMapError { error in
            channel.close().recover { _ in }.flatMapThrowing { throw error }
        }
    }

    /// Another certificate than the pinned one.
    struct Mismatch: Error {}
}
