package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.testkit.TestLoop;

import org.junit.jupiter.api.Test;

import picocli.CommandLine;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;

final class ServerObserverTest {
    private final StringWriter err = new StringWriter();
    private final ServerObserver observer = new ServerObserver(log(), false);

    private ServerLog log() {
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(err));
        return ServerLog.open(commandLine, ServerLog.Format.TEXT);
    }

    private void overload(TestLoop on, int breaches) {
        for (int i = 1; i <= breaches; i++) {
            observer.onTaskBudgetExceeded(on.loop(), i);
        }
    }

    private List<String> lines() {
        return err.toString().lines().toList();
    }

    @Test
    void overload_isLoggedOnce_andItsEndAfterTenSeconds() {
        try (TestLoop loop = TestLoop.open()) {
            overload(loop, 100);
            loop.advance(Duration.ofSeconds(9));
            overload(loop, 1);
            loop.advance(Duration.ofSeconds(9));
            assertThat(lines())
                    .singleElement()
                    .asString()
                    .contains(" WARNING dev.gyre.cli: loop ")
                    .endsWith(" is overloaded: 16 tasks wait after a full tick");

            loop.advance(Duration.ofSeconds(2));
            assertThat(lines()).hasSize(2);
            assertThat(lines().getLast())
                    .endsWith(
                            " is no longer overloaded: 101 full ticks in 9 s, up to 100 tasks"
                                    + " waited");

            overload(loop, 16);
            assertThat(lines()).hasSize(3);
            assertThat(lines().getLast()).contains(" is overloaded: ");
        }
    }

    @Test
    void overload_ofShortBursts_isNotLogged() {
        try (TestLoop loop = TestLoop.open()) {
            for (int i = 0; i < 3; i++) {
                overload(loop, 15);
                loop.advance(Duration.ofSeconds(11));
            }
            assertThat(lines()).isEmpty();
        }
    }

    @Test
    void overload_isCountedPerLoop() {
        try (TestLoop one = TestLoop.open();
                TestLoop other = TestLoop.open()) {
            overload(one, 15);
            overload(other, 15);
            assertThat(lines()).isEmpty();
            overload(other, 1);
            assertThat(lines()).hasSize(1);
        }
    }
}
