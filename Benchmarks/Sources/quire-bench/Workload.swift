import Glibc

/// One measured step; the steps of a round build on one another in the same directory.
struct Workload {
    let name: String
    /// What is counted, for the rate: operations or MiB.
    let unit: String
    let amount: Int
    let run: (_ directory: String) throws -> Void

    /// All steps in their order.
    static func all(files: Int) -> [Workload] { small(files) + large() + programs() }

    private static func small(_ count: Int) -> [Workload] {
        let names = (0..<count).map { "small/d\($0 % 100)/file\($0)" }
        return [
            Workload(name: "create \(count) files of 1 KiB", unit: "files/s", amount: count) { directory in
                try Shell.run("mkdir -p \(directory)/small/d{0..99}")
                for name in names { try Files.make("\(directory)/\(name)", size: 1024) }
            },
            Workload(name: "stat them", unit: "files/s", amount: count) { directory in
                for name in names { try Files.status("\(directory)/\(name)") }
            },
            Workload(name: "open, read, close them", unit: "files/s", amount: count) { directory in
                for name in names { try Files.read("\(directory)/\(name)") }
            },
            Workload(name: "list their 100 directories", unit: "entries/s", amount: count) { directory in
                var found = 0
                for number in 0..<100 { found += try Files.list("\(directory)/small/d\(number)") - 2 }
                guard found == count else { throw BenchmarkError("listed \(found) of \(count) in \(directory)") }
            },
            Workload(name: "rename them", unit: "files/s", amount: count) { directory in
                for name in names where rename("\(directory)/\(name)", "\(directory)/\(name).new") != 0 {
                    throw BenchmarkError("rename", "\(directory)/\(name)")
                }
            },
            Workload(name: "unlink them", unit: "files/s", amount: count) { directory in
                for name in names where unlink("\(directory)/\(name).new") != 0 {
                    throw BenchmarkError("unlink", "\(directory)/\(name).new")
                }
            },
        ]
    }

    private static func large() -> [Workload] {
        let blocks = 256
        let places = blocks * 256
        return [
            Workload(name: "write 256 MiB in order", unit: "MiB/s", amount: blocks) { directory in
                try Files.transfer("\(directory)/large", blocks: blocks, of: 1 << 20, writing: true, shuffled: false)
            },
            Workload(name: "read it in order", unit: "MiB/s", amount: blocks) { directory in
                try Files.transfer("\(directory)/large", blocks: blocks, of: 1 << 20, writing: false, shuffled: false)
            },
            Workload(name: "20,000 random reads of 4 KiB", unit: "reads/s", amount: 20_000) { directory in
                try Files.transfer(
                    "\(directory)/large", blocks: 20_000, of: 4096, writing: false, shuffled: true, places: places)
            },
            Workload(name: "20,000 random writes of 4 KiB", unit: "writes/s", amount: 20_000) { directory in
                try Files.transfer(
                    "\(directory)/large", blocks: 20_000, of: 4096, writing: true, shuffled: true, places: places)
            },
        ]
    }

    private static func programs() -> [Workload] {
        [
            Workload(name: "tar x of 3,000 files", unit: "files/s", amount: 3000) { directory in
                try Shell.run("tar xf \(directory)/../sources.tar -C \(directory)")
            },
            Workload(name: "git add of them", unit: "files/s", amount: 3000) { directory in
                try Shell.run("cd \(directory)/sources; git init -q; git add .")
            },
            Workload(name: "git status", unit: "files/s", amount: 3000) { directory in
                try Shell.run("cd \(directory)/sources; git status --porcelain > /dev/null")
            },
        ]
    }
}
