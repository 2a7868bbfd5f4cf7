import Glibc
import QuireCommandLine

if let find = QuickFind(ArgumentBytes.arguments()), !WholeProgram.isMountHelper,
    let code = find.run(environment: { getenv($0).map { String(cString: $0) } })
{
    exit(code)
}
WholeProgram.become()
