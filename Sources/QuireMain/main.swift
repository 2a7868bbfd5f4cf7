import Glibc
import QuireCommandLine
import QuireFilesystem

if let voice = VoiceProgram.meant(by: CommandLine.arguments) { exit(voice.run()) }
var arguments = HomeOptions.takingLeadingHome(ArgumentBytes.arguments()) { setenv("QUIRE_HOME", $0, 1) }
if MountHelper.isMeant(program: CommandLine.arguments.first ?? "", arguments: arguments) {
    arguments = MountHelper.command(arguments)
}
exit(await QuireCommand.run(arguments: arguments))
