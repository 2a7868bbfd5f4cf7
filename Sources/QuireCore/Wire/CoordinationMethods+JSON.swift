// The messages of a coordinated access, as they are read and written without a general coder.

extension WirePath: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var path: RelativePath?
        if scanner.isAtString() {
            path = RelativePath(parsing: try scanner.string())
        } else {
            try scanner.object { name, scanner throws(JSONScanner.Refusal) in
                if name == "base64" { path = Self.path(base64: try scanner.string()) } else { try scanner.skip() }
            }
        }
        guard let path else { throw JSONScanner.Refusal() }
        self.init(path)
    }

    package func write(to writer: inout JSONWriter) {
        if let text = String(validating: path.bytes, as: UTF8.self) {
            writer.string(text)
        } else {
            writer.object { writer in
                writer.name("base64")
                writer.string(base64)
            }
        }
    }
}

extension CoordinationMethods.Access: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var (path, access): (WirePath?, String?) = (nil, nil)
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "path": path = try WirePath(from: &scanner)
            case "access": access = try scanner.string()
            default: try scanner.skip()
            }
        }
        guard let path, let access else { throw JSONScanner.Refusal() }
        self.init(path: path, access: access)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("access")
            writer.string(access)
            writer.name("path")
            path.write(to: &writer)
        }
    }
}

extension CoordinationMethods.Acquire.Parameters: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        self.init([])
        accesses = nil
        var read = self
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "path": read.path = try WirePath.orNull(&scanner)
            case "access": read.access = try scanner.stringOrNull()
            case "accesses":
                guard try !scanner.null() else { return }
                read.accesses = try scanner.array { scanner throws(JSONScanner.Refusal) in
                    try CoordinationMethods.Access(from: &scanner)
                }
            case "purpose": read.purpose = try scanner.stringOrNull()
            case "presenter": read.presenter = try scanner.null() ? nil : scanner.integer()
            case "timeoutSeconds": read.timeoutSeconds = try scanner.null() ? nil : scanner.number()
            default: try scanner.skip()
            }
        }
        self = read
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if let access {
                writer.name("access")
                writer.string(access)
            }
            if let accesses {
                writer.name("accesses")
                writer.array { writer in for access in accesses { access.write(to: &writer) } }
            }
            if let path {
                writer.name("path")
                path.write(to: &writer)
            }
            if let presenter {
                writer.name("presenter")
                writer.integer(presenter)
            }
            if let purpose {
                writer.name("purpose")
                writer.string(purpose)
            }
            if let timeoutSeconds, timeoutSeconds.isFinite {
                writer.name("timeoutSeconds")
                writer.number(timeoutSeconds)
            }
        }
    }
}

extension CoordinationMethods.Acquire.Result: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var (claim, paths): (UInt64?, [WirePath]?) = (nil, nil)
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "claim": claim = try scanner.integer()
            case "paths":
                paths = try scanner.array { scanner throws(JSONScanner.Refusal) in try WirePath(from: &scanner) }
            default: try scanner.skip()
            }
        }
        guard let claim, let paths else { throw JSONScanner.Refusal() }
        self.init(claim: claim, paths: paths)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("claim")
            writer.integer(claim)
            writer.name("paths")
            writer.array { writer in for path in paths { path.write(to: &writer) } }
        }
    }
}

extension CoordinationMethods.Release.Parameters: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var claim: UInt64?
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            if name == "claim" { claim = try scanner.integer() } else { try scanner.skip() }
        }
        guard let claim else { throw JSONScanner.Refusal() }
        self.init(claim: claim)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("claim")
            writer.integer(claim)
        }
    }
}
