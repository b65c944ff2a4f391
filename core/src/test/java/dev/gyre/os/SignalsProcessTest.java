package dev.gyre.os;

import static dev.gyre.os.Signal.SIGHUP;
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGQUIT;
import static dev.gyre.os.Signal.SIGTERM;
import static dev.gyre.os.Signal.SIGUSR1;
import static dev.gyre.os.Signal.SIGUSR2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.internal.sys.TestSignals;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Signals in JVMs that are started in different ways.
class SignalsProcessTest {
    @BeforeAll
    static void requireEnv() throws IOException, InterruptedException {
        boolean found;
        try {
            found = new ProcessBuilder("env", "--block-signal=USR1", "true").start().waitFor() == 0;
        } catch (IOException e) {
            found = false;
        }
        // On a developer's machine it may be absent; CI has it.
        assumeTrue(
                found || System.getenv("CI") != null,
                "no `env --block-signal` (coreutils 8.31 or newer)");
    }

    /// A program and its output.
    private static final class Program implements AutoCloseable {
        private final Process process;
        private final BufferedReader output;

        Program(List<String> env, List<String> jvm, Signal... signals)
                throws IOException, URISyntaxException {
            List<String> command = new ArrayList<>();
            command.add("env");
            command.addAll(env);
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(jvm);
            command.addAll(
                    List.of(
                            "-ea",
                            "-Xshare:auto",
                            "-XX:TieredStopAtLevel=1",
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            placeOf(EventLoop.class) + ":" + placeOf(SignalsProgram.class),
                            SignalsProgram.class.getName()));
            for (Signal signal : signals) {
                command.add(signal.name());
            }
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            output = process.inputReader();
        }

        private static Path placeOf(Class<?> type) throws URISyntaxException {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        }

        String says() throws IOException {
            return output.readLine();
        }

        void send(Signal signal) {
            TestSignals.send(process.pid(), signal);
        }

        /// Sends each signal and waits for its delivery.
        void hears(Signal... signals) throws IOException {
            for (Signal signal : signals) {
                send(signal);
                assertThat(says()).isEqualTo("heard " + signal);
            }
        }

        void ends() throws IOException, InterruptedException {
            assertThat(says()).as("after it should have ended").isNull();
            assertThat(process.waitFor()).isZero();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private static Program start(List<String> env, List<String> jvm, Signal... signals)
            throws IOException, URISyntaxException {
        return new Program(env, jvm, signals);
    }

    @Test
    @Clause("Y-1")
    void on_startedWithTheSignalBlocked_readsItFromADescriptor() throws Exception {
        try (Program program =
                start(List.of("--block-signal=USR1,TERM"), List.of(), SIGTERM, SIGUSR1)) {
            // Without -Xrs the JVM unblocks SIGTERM.
            assertThat(program.says())
                    .isEqualTo("Signals[SIGUSR1 by signalfd, SIGTERM by the JVM's handler]");
            program.hears(SIGUSR1, SIGTERM);
            program.ends();
        }
    }

    @Test
    @Clause("Y-1")
    void on_startedWithXrsAndBlocked_readsAllFromADescriptor() throws Exception {
        try (Program program =
                start(
                        List.of("--block-signal=HUP,INT,QUIT,TERM"),
                        List.of("-Xrs"),
                        SIGHUP,
                        SIGINT,
                        SIGQUIT,
                        SIGTERM)) {
            assertThat(program.says())
                    .isEqualTo(
                            "Signals[SIGHUP by signalfd, SIGINT by signalfd, SIGQUIT by signalfd,"
                                    + " SIGTERM by signalfd]");
            program.hears(SIGQUIT, SIGTERM, SIGHUP, SIGINT);
            program.ends();
        }
    }

    @Test
    @Clause("Y-1")
    void on_startedWithXrsAlone_isRefusedWithTheRemedy() throws Exception {
        for (Signal signal : List.of(SIGTERM, SIGUSR1)) {
            try (Program program = start(List.of(), List.of("-Xrs"), signal)) {
                assertThat(program.says())
                        .startsWith(signal + " cannot be caught: the JVM was started with -Xrs")
                        .contains("env --block-signal=" + signal.name().substring(3));
                program.ends();
            }
        }
    }

    @Test
    @Clause("Y-1")
    void on_startedWithTheSignalIgnored_saysThatItStaysSo() throws Exception {
        try (Program program = start(List.of("--ignore-signal=HUP"), List.of(), SIGHUP, SIGUSR1)) {
            assertThat(program.says())
                    .isEqualTo("Signals[SIGHUP ignored, SIGUSR1 by the JVM's handler]");
            program.send(SIGHUP);
            program.hears(SIGUSR1);
            program.ends();
        }
    }

    @Test
    @Clause("Y-1")
    void on_startedWithAnotherSignalIgnored_takesIt() throws Exception {
        try (Program program = start(List.of("--ignore-signal=USR1"), List.of(), SIGUSR1)) {
            assertThat(program.says()).isEqualTo("Signals[SIGUSR1 by the JVM's handler]");
            program.hears(SIGUSR1);
            program.ends();
        }
    }

    @Test
    @Clause("Y-1")
    void on_startedWithTheSignalIgnoredAndBlocked_readsItFromADescriptor() throws Exception {
        try (Program program =
                start(
                        List.of("--ignore-signal=HUP", "--block-signal=HUP"),
                        List.of("-Xrs"),
                        SIGHUP)) {
            assertThat(program.says()).isEqualTo("Signals[SIGHUP by signalfd]");
            program.hears(SIGHUP);
            program.ends();
        }
    }

    @Test
    @Clause("Y-1")
    void on_startedWithAnotherSignalToSuspendThreads_takesUsr2() throws Exception {
        try (Program program = start(List.of("_JAVA_SR_SIGNUM=40"), List.of(), SIGUSR2)) {
            assertThat(program.says()).isEqualTo("Signals[SIGUSR2 by the JVM's handler]");
            program.hears(SIGUSR2);
            program.ends();
        }
    }
}
