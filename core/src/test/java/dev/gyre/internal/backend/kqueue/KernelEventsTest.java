package dev.gyre.internal.backend.kqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.RecordingHandler;
import dev.gyre.internal.backend.VnodeChange;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Syscalls;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;

/// Signals, processes and files by filters of their own, in both layouts.
@On("kqueue")
class KernelEventsTest {
    private static final int SIGCHLD = 20;
    private static final int PID = 70_123;

    private record Told(ReadinessHandler handler, int what) {}

    private static List<Told> look(KqueueBackend backend) {
        backend.pollNow();
        List<Told> events = new ArrayList<>();
        for (ReadinessHandler handler = backend.dispatchNext();
                handler != null;
                handler = backend.dispatchNext()) {
            events.add(new Told(handler, ((RecordingHandler) handler).events()));
        }
        return events;
    }

    private static KqueueBackend open(FakeKqueue kernel) {
        return KqueueBackend.open(() -> kernel, kernel.flavour, Syscalls.LINUX, 16);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"B-5", "Y-1"})
    void signal_isToldWithHowOftenItCame(KqueueFlavour flavour) {
        FakeKqueue kernel = new FakeKqueue(flavour);
        KqueueBackend backend = open(kernel);
        RecordingHandler handler = new RecordingHandler();
        backend.watchSignal(SIGCHLD, handler);
        assertThat(look(backend)).isEmpty();
        kernel.raise(SIGCHLD);
        kernel.raise(SIGCHLD);
        assertThat(look(backend)).containsExactly(new Told(handler, 2));
        kernel.raise(SIGCHLD);
        assertThat(look(backend)).containsExactly(new Told(handler, 1));
        backend.forgetSignal(SIGCHLD, new RecordingHandler()); // Not his.
        kernel.raise(SIGCHLD);
        assertThat(look(backend)).containsExactly(new Told(handler, 1));
        backend.forgetSignal(SIGCHLD, handler);
        kernel.raise(SIGCHLD);
        assertThat(look(backend)).isEmpty();
        backend.close();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"B-5", "Y-1"})
    void process_isToldOnceWithItsStatus(KqueueFlavour flavour) {
        FakeKqueue kernel = new FakeKqueue(flavour);
        KqueueBackend backend = open(kernel);
        RecordingHandler handler = new RecordingHandler();
        assertThatThrownBy(() -> backend.watchProcess(PID, handler))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ESRCH");
        kernel.start(PID);
        backend.watchProcess(PID, handler);
        assertThat(look(backend)).isEmpty();
        kernel.exit(PID, 3 << 8);
        assertThat(look(backend)).containsExactly(new Told(handler, 3 << 8));
        assertThat(look(backend)).isEmpty();
        backend.forgetProcess(PID, handler);
        backend.close();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"B-5", "Y-1"})
    void file_isToldWithWhatWasAskedForOnly(KqueueFlavour flavour) {
        FakeKqueue kernel = new FakeKqueue(flavour);
        KqueueBackend backend = open(kernel);
        int fd = kernel.open(FakeDescriptor.file());
        RecordingHandler handler = new RecordingHandler();
        assertThatThrownBy(() -> backend.watchVnode(fd, 1 << 20, handler))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1048576");
        backend.watchVnode(fd, VnodeChange.WRITTEN | VnodeChange.DELETED, handler);
        kernel.changeFile(fd, Kevent.NOTE_ATTRIB);
        assertThat(look(backend)).isEmpty();
        kernel.changeFile(fd, Kevent.NOTE_WRITE | Kevent.NOTE_EXTEND);
        kernel.changeFile(fd, Kevent.NOTE_DELETE);
        assertThat(look(backend))
                .containsExactly(new Told(handler, VnodeChange.WRITTEN | VnodeChange.DELETED));
        assertThat(look(backend)).isEmpty();
        kernel.changeFile(fd, Kevent.NOTE_WRITE);
        kernel.close(fd);
        assertThat(look(backend)).as("closing takes the filter along").isEmpty();
        backend.close();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"B-5", "W-3"})
    void sameNumber_asSignalProcessAndFile_isThreeThings(KqueueFlavour flavour) {
        FakeKqueue kernel = new FakeKqueue(flavour);
        KqueueBackend backend = open(kernel);
        int number = kernel.open(FakeDescriptor.file());
        RecordingHandler signal = new RecordingHandler();
        RecordingHandler process = new RecordingHandler();
        RecordingHandler file = new RecordingHandler();
        kernel.start(number);
        backend.watchSignal(number, signal);
        backend.watchProcess(number, process);
        backend.watchVnode(number, VnodeChange.RENAMED, file);
        kernel.raise(number);
        kernel.changeFile(number, Kevent.NOTE_RENAME);
        kernel.exit(number, 9);
        assertThat(look(backend))
                .containsExactlyInAnyOrder(
                        new Told(signal, 1),
                        new Told(process, 9),
                        new Told(file, VnodeChange.RENAMED));
        backend.close();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"B-5", "W-3"})
    void eventOnItsWay_whenItIsForgotten_reachesNobody(KqueueFlavour flavour) {
        FakeKqueue kernel = new FakeKqueue(flavour);
        KqueueBackend backend = open(kernel);
        RecordingHandler old = new RecordingHandler();
        backend.watchSignal(SIGCHLD, old);
        kernel.raise(SIGCHLD);
        backend.pollNow();
        backend.forgetSignal(SIGCHLD, old);
        backend.watchSignal(SIGCHLD, new RecordingHandler());
        assertThat(backend.dispatchNext()).isNull();
        backend.close();
    }
}
