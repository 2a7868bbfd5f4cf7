import Glibc

let arguments = HomeOptions.takingLeadingHome(ArgumentBytes.arguments()) { setenv("QUIRE_HOME", $0, 1) }
exit(await QuireCommand.run(arguments: arguments))
