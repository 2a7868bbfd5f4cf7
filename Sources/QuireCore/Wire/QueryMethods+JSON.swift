// The messages of a search for paths, as they are read and written without a general coder.

extension ItemMethods.Find.Parameters: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        self.init()
        var read = self
        var isCountOnlyGiven = false
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "expression": read.expression = try scanner.stringOrNull()
            case "name": read.name = try scanner.stringOrNull()
            case "states": read.states = try [ItemState].orNull(&scanner)
            case "directory": read.directory = try WirePath.orNull(&scanner)
            case "order": read.order = try [String].orNull(&scanner)
            case "limit": read.limit = try scanner.null() ? nil : scanner.integer()
            case "countOnly":
                read.countOnly = try scanner.boolean()
                isCountOnlyGiven = true
            default: try scanner.skip()
            }
        }
        guard isCountOnlyGiven else { throw JSONScanner.Refusal() }
        self = read
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("countOnly")
            writer.boolean(countOnly)
            directory.write("directory", to: &writer)
            expression.write("expression", to: &writer)
            if let limit {
                writer.name("limit")
                writer.integer(limit)
            }
            name.write("name", to: &writer)
            order.write("order", to: &writer)
            states.write("states", to: &writer)
        }
    }
}

extension ItemMethods.Find.Result: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var count: Int?
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            if name == "count" { count = try scanner.integer() } else { try scanner.skip() }
        }
        guard let count else { throw JSONScanner.Refusal() }
        self.init(count: count)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("count")
            writer.integer(count)
        }
    }
}

extension ItemState: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        guard let state = ItemState(rawValue: try scanner.string()) else { throw JSONScanner.Refusal() }
        self = state
    }

    package func write(to writer: inout JSONWriter) { writer.string(rawValue) }
}

extension String: JSONReadable, JSONWritable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) { self = try scanner.string() }

    package func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Array: JSONReadable where Element: JSONReadable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        self = try scanner.array { scanner throws(JSONScanner.Refusal) in try Element(from: &scanner) }
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.array { writer in for element in self { element.write(to: &writer) } }
    }
}

extension Optional where Wrapped: JSONWritable {
    /// A member of an object; none where there is no value.
    fileprivate func write(_ name: StaticString, to writer: inout JSONWriter) {
        guard let self else { return }
        writer.name(name)
        self.write(to: &writer)
    }
}

extension WirePartial: JSONReadable where Value: JSONReadable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var (id, value): (RPCIdentifier?, Value?) = (nil, nil)
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "id": id = try RPCIdentifier(from: &scanner)
            case "value": value = try Value(from: &scanner)
            default: try scanner.skip()
            }
        }
        guard let id, let value else { throw JSONScanner.Refusal() }
        self.init(id: id, value: value)
    }
}

extension WirePartial: JSONWritable where Value: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("id")
            id.write(to: &writer)
            writer.name("value")
            value.write(to: &writer)
        }
    }
}

extension RPCRequest: JSONReadable where Parameters: JSONReadable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var (jsonrpc, method): (String?, String?) = (nil, nil)
        var (id, params): (RPCIdentifier?, Parameters?) = (nil, nil)
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "id": id = try RPCIdentifier.orNull(&scanner)
            case "jsonrpc": jsonrpc = try scanner.string()
            case "method": method = try scanner.string()
            case "params": params = try Parameters(from: &scanner)
            default: try scanner.skip()
            }
        }
        guard let jsonrpc, let method, let params else { throw JSONScanner.Refusal() }
        self.init(id: id, method: method, params: params)
        self.jsonrpc = jsonrpc
    }
}

extension RPCError: JSONReadable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var (code, message, data): (Int?, String?, Details?) = (nil, nil, nil)
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "code": code = try scanner.integer()
            case "message": message = try scanner.string()
            case "data": data = try Details.orNull(&scanner)
            default: try scanner.skip()
            }
        }
        guard let code, let message else { throw JSONScanner.Refusal() }
        self.init(code: code, message: message, data: data)
    }
}

extension RPCError.Details: JSONReadable {
    package init(from scanner: inout JSONScanner) throws(JSONScanner.Refusal) {
        var (kind, remedy): (String?, String?) = (nil, nil)
        try scanner.object { name, scanner throws(JSONScanner.Refusal) in
            switch name {
            case "kind": kind = try scanner.string()
            case "remedy": remedy = try scanner.stringOrNull()
            default: try scanner.skip()
            }
        }
        guard let kind else { throw JSONScanner.Refusal() }
        self.init(kind: kind, remedy: remedy)
    }
}
