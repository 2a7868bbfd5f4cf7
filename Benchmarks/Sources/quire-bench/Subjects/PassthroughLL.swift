import Glibc

/// libfuse's example of a file system that passes everything on: the peer to compare with.
enum PassthroughLL {
    /// Where Debian's package libfuse3-dev has its source.
    static let source = "/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c"

    /// Compiles it and returns the program's path; nil when the source is not there.
    static func build(in directory: String) throws(BenchmarkError) -> String? {
        guard access(source, R_OK) == 0 else { return nil }
        let program = "\(directory)/passthrough_ll.program"
        try Program.script("cc -O2 -w \(source) $(pkg-config fuse3 --cflags --libs) -o \(program)")
        return program
    }
}
