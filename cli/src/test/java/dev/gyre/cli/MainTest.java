package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import picocli.CommandLine.Command;

import java.util.List;
import java.util.Locale;

final class MainTest {
    @Test
    void command_ofEachClass_hasItsName() {
        assertThat(Main.COMMANDS)
                .allSatisfy(
                        each ->
                                assertThat(each.getAnnotation(Command.class).name())
                                        .as("a command is found by its class's name")
                                        .isEqualTo(each.getSimpleName().toLowerCase(Locale.ROOT)));
    }

    @Test
    void commandLine_withACommand_knowsThatAlone() {
        assertThat(Main.commandLine("serve", "run").getSubcommands()).containsOnlyKeys("serve");
        assertThat(Main.commandLine("run", "--help").getSubcommands()).containsOnlyKeys("run");
    }

    @Test
    void commandLine_withoutACommand_knowsAll() {
        List<String> names =
                List.of(
                        "doctor", "ticks", "watch", "run", "serve", "echo", "proxy", "top", "trace",
                        "c10k", "help");
        for (String[] args : List.of(new String[] {}, new String[] {"--help"}, args("help"))) {
            assertThat(Main.commandLine(args).getSubcommands().keySet())
                    .as("help and suggestions tell of all of them")
                    .containsExactlyElementsOf(names);
        }
        assertThat(Main.commandLine("Serve").getSubcommands().keySet())
                .containsExactlyElementsOf(names);
    }

    @Test
    void help_ofEachCommand_breaksNoLineOfItsExamples() {
        Main.commandLine()
                .getSubcommands()
                .values()
                .forEach(
                        command ->
                                assertThat(command.getUsageMessage().lines())
                                        .as("help of %s", command.getCommandName())
                                        .containsAll(
                                                List.of(
                                                        command.getCommandSpec()
                                                                .usageMessage()
                                                                .footer())));
    }

    private static String[] args(String... args) {
        return args;
    }
}
