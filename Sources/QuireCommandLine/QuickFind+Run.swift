import QuireCore

extension QuickFind {
    /// Asks the daemon and prints what it answers.
    ///
    /// - Parameter environment: looks up a variable.
    /// - Returns: the exit code; nil where nothing was printed and the whole program is to decide.
    package func run(environment: (String) -> String?) -> Int32? {
        var hasPrinted = false
        do throws(QuireError) {
            let home = try HomePath(
                option: home.map(FindExpression.wire), environment: environment, workingDirectory: WorkingDirectory.path
            )
            let parameters = try parameters()
            let call = try SingleCall(home: home.path)
            let result = try call.ask(QueryMethods.Paths.self, parameters) { scanner throws(JSONScanner.Refusal) in
                let lines = try FindLine.all(from: &scanner, null: endsWithNull)
                hasPrinted = hasPrinted || !lines.isEmpty
                Output.write(lines)
            }
            if isCount { Output.line("\(result.count)") }
            return 0
        } catch {
            // The whole program has the words for what is wrong, and the drive's own files where no daemon runs.
            guard hasPrinted else { return nil }
            Output.error(error)
            return error.code.exitCode
        }
    }
}
