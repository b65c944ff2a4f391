package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.WatchSpec;
import dev.gyre.internal.sys.TestSignals;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Command;
import dev.gyre.os.Exit;
import dev.gyre.os.FileWatch;
import dev.gyre.os.Pipe;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;
import dev.gyre.os.Stdio;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Chapter Y, for backends of the real Linux.
public abstract class SystemContract extends ConformanceFixture {
    @TempDir Path directory;

    /// Gives up on what never comes.
    @BeforeEach
    void guard() {
        loop.after(Duration.ofSeconds(30), timer -> loop.stop()).unreference();
    }

    @Test
    @Clause("Y-1")
    void signal_ofTheProcess_reachesTheLoop() {
        try (Signals _ = Signals.on(loop, Signal.SIGWINCH, signal -> heard(signal.name()))) {
            TestSignals.send(Signal.SIGWINCH);
            loop.run();
        }
        assertThat(log).containsExactly("SIGWINCH");
    }

    private void heard(String word) {
        log.add(word);
        loop.stop();
    }

    @Test
    @Clause("Y-1")
    void child_isStarted_heardAndItsExitIsToldOnce() {
        List<Exit> exits = new ArrayList<>();
        ChildProcess child =
                ChildProcess.start(
                        loop, Command.of("sh", "-c", "echo words; exit 3").withOutput(Stdio.PIPE));
        child.onExit(exits::add);
        StringBuilder words = new StringBuilder();
        loop.watch(
                child.output(),
                WatchSpec.reading(
                        watcher -> {
                            String found = receive(watcher.descriptor());
                            if (found.equals("end")) {
                                watcher.unwatch();
                            } else {
                                words.append(found);
                            }
                        }));
        loop.runUntilEmpty();
        assertThat(words).hasToString("words\n");
        assertThat(exits).hasSize(1);
        assertThat(exits.getFirst()).hasToString("exited with 3");
    }

    @Test
    @Clause("Y-1")
    void file_madeInAWatchedDirectory_isTold() throws IOException {
        try (FileWatch _ =
                FileWatch.on(loop, directory, change -> heard(change.path().toString()))) {
            Files.createFile(directory.resolve("made"));
            loop.run();
        }
        assertThat(log.getFirst()).endsWith("made");
    }

    @Test
    @Clause({"Y-1", "W-8"})
    void pipe_carriesBytesAndItsEnd() {
        Pipe pipe = Pipe.open();
        loop.watch(
                pipe.reader(),
                WatchSpec.reading(
                        watcher -> {
                            log.add(receive(watcher.descriptor()));
                            if (log.getLast().equals("end")) {
                                watcher.unwatch();
                            }
                        }));
        loop.after(
                Duration.ofMillis(1),
                timer -> {
                    send(pipe.writer());
                    pipe.writer().close();
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("x", "end");
        pipe.close();
    }
}
