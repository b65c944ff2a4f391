package dev.gyre.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// The `gyre` command. Each subcommand is a class of this package with the command's name, whose
/// `call()` returns the exit status.
@Command(
        name = "gyre",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        headerHeading = "%n",
        header = "Gyre: an event loop for Java on epoll and io_uring.",
        synopsisHeading = "%nUsage: ",
        synopsisSubcommandLabel = "COMMAND",
        descriptionHeading = "%n",
        description = {
            "Checks the machine, measures a running loop, watches files, supervises commands,"
                    + " serves HTTP and TCP, and shows what a running server does. `gyre help"
                    + " COMMAND` describes a command and its options."
        },
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands:%n",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:success",
            "1:failure; the reason is on standard error",
            "2:invalid command line"
        },
        footerHeading = "%nYour own programs:%n",
        footer = {
            "  gyre java FILE [ARGUMENT...]   runs a Java source file with Gyre's modules",
            "",
            "Environment:",
            "  GYRE_JAVA_HOME     JDK to use (25 or newer); overrides JAVA_HOME",
            "  JDK_JAVA_OPTIONS   JVM options such as -Xmx64m; they replace the defaults that keep",
            "                     servers small",
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
                    Top.class,
                    Trace.class,
                    C10k.class);

    private Main() {}

    /// Adds only the command that the arguments name, or all if they name none: picocli reads every
    /// option of every added command, which would delay a server's first response.
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
            // Options and @files after `run COMMAND` belong to the command.
            run.setStopAtPositional(true);
        }
        return commandLine.setExpandAtFiles(false).setParameterExceptionHandler(new UsageErrors());
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
