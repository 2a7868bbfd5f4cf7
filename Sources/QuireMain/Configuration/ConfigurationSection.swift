import QuireCore
import TOMLKit

extension ConfigurationReader {
    /// One table of the file, read key by key with its type checked.
    struct Section {
        let file: String
        /// Empty for the file's top.
        let name: String
        let table: TOMLTable

        var keys: [String] { table.keys }

        func wrong(_ key: String, _ what: String) -> QuireError {
            let place = name.isEmpty ? key : "\(name).\(key)"
            return QuireError(.usage, "\(file): \(place) \(what)", remedy: "Correct the file")
        }

        func string(_ key: String) throws(QuireError) -> String? {
            guard let value = table[key] else { return nil }
            guard let string = value.string else { throw wrong(key, "is not a string") }
            return string
        }

        func required(_ key: String) throws(QuireError) -> String {
            guard let string = try string(key) else { throw wrong(key, "is missing") }
            guard !string.isEmpty else { throw wrong(key, "is empty") }
            return string
        }

        func boolean(_ key: String) throws(QuireError) -> Bool? {
            guard let value = table[key] else { return nil }
            guard let boolean = value.bool else { throw wrong(key, "is neither true nor false") }
            return boolean
        }

        func integer(_ key: String, in range: ClosedRange<Int>) throws(QuireError) -> Int? {
            guard let value = table[key] else { return nil }
            guard let integer = value.int else { throw wrong(key, "is not a whole number") }
            guard range.contains(integer) else {
                throw wrong(key, "is \(integer), not within \(range.lowerBound) … \(range.upperBound)")
            }
            return integer
        }

        /// A size in words (`10 GB`), or a whole number of bytes.
        func size(_ key: String) throws(QuireError) -> ByteCount? {
            guard let value = table[key] else { return nil }
            if let bytes = value.int, bytes > 0 { return ByteCount(Int64(bytes)) }
            guard let size = value.string.flatMap(ByteCount.init(text:)) else {
                throw wrong(key, "is not a size: write a number and a unit, as in \"10 GB\"")
            }
            return size
        }

        /// A rate in words (`2 MB/s`), in bytes a second.
        func rate(_ key: String) throws(QuireError) -> ByteCount? {
            guard let value = table[key] else { return nil }
            guard let rate = value.string.flatMap({ TransferRate.read($0) }) else {
                throw wrong(key, "is not a rate: write a number and a unit, as in \"2 MB/s\", at least 16 kB/s")
            }
            return rate
        }

        func strings(_ key: String) throws(QuireError) -> [String]? {
            guard let value = table[key] else { return nil }
            guard let array = value.array else { throw wrong(key, "is not a list of strings") }
            var strings: [String] = []
            for element in array {
                guard let string = element.string else { throw wrong(key, "is not a list of strings") }
                strings.append(string)
            }
            return strings
        }

        func section(_ key: String) throws(QuireError) -> Section? {
            guard let value = table[key] else { return nil }
            guard let inner = value.table else { throw wrong(key, "is not a table: write [\(key)]") }
            return Section(file: file, name: key, table: inner)
        }

        func sections(_ key: String) throws(QuireError) -> [Section] {
            guard let value = table[key] else { return [] }
            guard let array = value.array else { throw wrong(key, "is not a list of tables: write [[\(key)]]") }
            var sections: [Section] = []
            for element in array {
                guard let inner = element.table else { throw wrong(key, "is not a list of tables: write [[\(key)]]") }
                sections.append(Section(file: file, name: key, table: inner))
            }
            return sections
        }
    }
}
