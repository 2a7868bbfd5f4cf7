import Glibc

do {
    try measure(Options(Array(CommandLine.arguments.dropFirst())))
} catch {
    let message = Array("quire-bench: \(error)\n".utf8)
    _ = Glibc.write(2, message, message.count)
    exit(1)
}

/// Runs every workload on every subject, subject after subject within a step, and prints the best of the rounds.
func measure(_ options: Options) throws {
    var template = Array("\(options.root)/quire-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw BenchmarkError("mkdtemp", options.root) }
    let root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // Never through a mount that could not be ended.
    defer { try? Shell.run("rm -rf --one-file-system \(root)") }

    var subjects = [try Subject.bare(root)]
    defer { for subject in subjects.reversed() { subject.stop() } }
    subjects.append(try Subject.drive(options, root))
    if Shell.has("bindfs") {
        subjects.append(try Subject.bindfs(root))
    } else {
        print("bindfs is not installed: left out")
    }

    try Shell.run(
        """
        cd \(root); mkdir -p make/sources/d{0..29}
        for d in {0..29}; do for f in {0..99}; do head -c $((200 + f * 40)) /dev/zero > make/sources/d$d/f$f; done; done
        tar cf sources.tar -C make sources; rm -r make
        """)

    var table = Table(subjects: subjects.map(\.name))
    var best = Workload.all(files: options.files).map { _ in subjects.map { _ in Double.infinity } }
    for round in 1...options.rounds {
        print("round \(round) of \(options.rounds)")
        // Fresh directories: some file systems are slow where much was just removed.
        for subject in subjects { try Shell.run("mkdir \(subject.directory)/round\(round)") }
        for subject in subjects { try Shell.run("cp \(root)/sources.tar \(subject.directory)") }
        for (step, workload) in Workload.all(files: options.files).enumerated() {
            for (index, subject) in subjects.enumerated() {
                let time = try seconds { try workload.run("\(subject.directory)/round\(round)") }
                best[step][index] = min(best[step][index], time)
            }
        }
        for subject in subjects { try Shell.run("rm -rf \(subject.directory)/round\(round)") }
    }
    for (workload, times) in zip(Workload.all(files: options.files), best) { table.add(workload, seconds: times) }
    print(table.markdown)
    if let path = options.markdown { try write(table.markdown, to: path) }
}

func seconds(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let elapsed = try clock.measure(body)
    return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
}

func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw BenchmarkError("open", path) }
    fputs(text, file)
    fclose(file)
}
