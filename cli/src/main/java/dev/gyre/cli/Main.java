package dev.gyre.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// The `gyre` command. It does nothing of itself: each subcommand is a class of this package, whose name is the
/// command's, and its `call()` answers with the exit status.
@Command(
        name = "gyre",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
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
        footerHeading = "%nPrograms of your own:%n",
        footer = {
            "  gyre java FILE [ARGUMENT...]   runs one from its source, with Gyre's modules",
            "",
            "Environment:",
            "  GYRE_JAVA_HOME     the JDK to use, before JAVA_HOME: 25 or newer",
            "  JDK_JAVA_OPTIONS   options for the JVM, such as -Xmx64m; for servers instead of",
            "                     those that keep them small",
            ""
        })
public final class Main {
    /// In the order of the help.
    static final List<Class<?>> COMMANDS =
            List.of(
                    Doctor.class,
                    Ticks.class,
                    Watch.class,
                    Run.class,
                    Serve.class,
                    Echo.class,
                    Proxy.class,
                    C10k.class);

    private Main() {}

    /// Knows the command that these arguments name, or all if it is none: picocli reads every option of every
    /// command that it knows of, and somebody waits for a server's first answer.
    static CommandLine commandLine(String... args) {
        CommandLine commandLine = new CommandLine(new Main());
        Optional<Class<?>> named = args.length == 0 ? Optional.empty() : command(args[0]);
        named.ifPresentOrElse(
                commandLine::addSubcommand,
                () -> {
                    COMMANDS.forEach(commandLine::addSubcommand);
                    commandLine.addSubcommand(new HelpCommand());
                });
        CommandLine run = commandLine.getSubcommands().get("run");
        if (run != null) {
            // What stands behind `run` is another program's: options are not ours, nor names after
            // an @.
            run.setStopAtPositional(true);
        }
        return commandLine.setExpandAtFiles(false).setParameterExceptionHandler(new Misuse());
    }

    private static Optional<Class<?>> command(String name) {
        return COMMANDS.stream()
                .filter(each -> each.getSimpleName().toLowerCase(Locale.ROOT).equals(name))
                .findFirst();
    }

    /// Runs the command line and exits with its status.
    public static void main(String[] args) {
        System.exit(commandLine(args).execute(args));
    }
}
