package dev.gyre.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

import java.util.Objects;

/// The `gyre` command. It does nothing of itself: each subcommand is a class of this package, named
/// in the list below, and its `call()` answers with the exit status.
@Command(
        name = "gyre",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        subcommands = {
            Doctor.class,
            Ticks.class,
            Watch.class,
            Run.class,
            Serve.class,
            Echo.class,
            Proxy.class,
            C10k.class,
            HelpCommand.class
        },
        headerHeading = "%n",
        header = "Gyre: an event loop for Java, straight on the kernel's own.",
        synopsisHeading = "%nUsage: ",
        synopsisSubcommandLabel = "COMMAND",
        descriptionHeading = "%n",
        description = {
            "Looks at the machine the loop would run on, and at the loop while it runs; watches"
                + " files, keeps commands running, serves the web and connections of any sort, as a"
                + " loop can. `gyre help COMMAND` tells what a command does and which options it"
                + " takes."
        },
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:done, and nothing found amiss",
            "1:failed, or found something amiss; what, is on standard error",
            "2:the command line makes no sense"
        },
        footerHeading = "%nEnvironment:%n",
        footer = {
            "  GYRE_JAVA_HOME     the JDK to use, before JAVA_HOME: 25 or newer",
            "  JDK_JAVA_OPTIONS   options for the JVM, such as -Xmx64m; for servers instead of",
            "                     those that keep them small",
            ""
        })
public final class Main {
    private Main() {}

    static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new Main());
        // What stands behind `run` is another program's: options are not ours, nor names after an
        // @.
        Objects.requireNonNull(commandLine.getSubcommands().get("run")).setStopAtPositional(true);
        return commandLine.setExpandAtFiles(false);
    }

    /// Runs the command line and exits with its status.
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }
}
