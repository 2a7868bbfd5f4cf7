import Glibc
import QuireCommandLine
import QuireCore

if let find = QuickFind(ArgumentBytes.arguments()), !WholeProgram.isMountHelper,
    let code = find.run(environment: { getenv($0).map { String(cString: $0) } })
{
    do { try Output.requireTaken() } catch {
        Output.error(error)
        exit(error.code.exitCode)
    }
    exit(code)
}
WholeProgram.become()
