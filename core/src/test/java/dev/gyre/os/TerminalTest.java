package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.TestDescriptors;
import dev.gyre.internal.os.RawTerminal;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyTerminals;
import dev.gyre.internal.sys.PseudoTerminal;
import dev.gyre.io.ClosedDescriptorException;
import dev.gyre.io.Descriptor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;

/// Terminal modes and sizes, on a pseudo terminal.
class TerminalTest {
    private final PseudoTerminal terminal = new PseudoTerminal();
    private final Descriptor descriptor = Descriptor.borrow(terminal.fd());
    private final String cooked = terminal.settings();

    @AfterEach
    void close() {
        terminal.close();
    }

    @Test
    @Clause("Y-1")
    void isTerminal_tellsATerminalFromAPipe() {
        assertThat(Terminal.isTerminal(descriptor)).isTrue();
        try (Pipe pipe = Pipe.open()) {
            assertThat(Terminal.isTerminal(pipe.reader())).isFalse();
        }
        for (Terminal.Standard stream : Terminal.Standard.values()) {
            // Either result is right: the call has no side effect.
            assertThat(Terminal.isTerminal(stream)).isIn(true, false);
        }
        descriptor.close();
        assertThatThrownBy(() -> Terminal.isTerminal(descriptor))
                .isInstanceOf(ClosedDescriptorException.class);
    }

    @Test
    @Clause("Y-1")
    void size_isThatOfTheWindow_ifItIsKnown() {
        assertThat(Terminal.size(descriptor)).as("nobody has said").isEmpty();
        terminal.resize(132, 43);
        assertThat(Terminal.size(descriptor)).contains(new Terminal.Size(132, 43));
        try (Pipe pipe = Pipe.open()) {
            assertThat(Terminal.size(pipe.reader())).isEmpty();
        }
    }

    @Test
    @Clause("Y-1")
    void raw_handsOverEachKeyAtOnce_andClosingBringsTheSettingsBack() {
        ByteBuffer bytes = ByteBuffer.allocate(8);
        Terminal.Raw raw = Terminal.raw(descriptor);
        terminal.type("a\3");
        assertThat(descriptor.read(bytes)).isEqualTo(2);
        assertThat(bytes.flip()).isEqualTo(ByteBuffer.wrap(new byte[] {'a', 3}));
        assertThat(terminal.settings()).isNotEqualTo(cooked);
        raw.close();
        assertThat(terminal.settings()).isEqualTo(cooked);
        raw.close();
    }

    @Test
    @Clause("Y-1")
    void restoreAll_asWhenTheJvmExits_endsWithTheFirstSettings() {
        Terminal.Raw first = Terminal.raw(descriptor);
        Terminal.Raw second = Terminal.raw(descriptor);
        RawTerminal.restoreAll();
        assertThat(terminal.settings()).isEqualTo(cooked);
        first.close();
        second.close();
        assertThat(terminal.settings()).isEqualTo(cooked);
    }

    @Test
    @Clause("Y-1")
    void close_inTheOrderTheyWereMade_bringsTheFirstSettingsBackWithTheLast() {
        try (Descriptor other = TestDescriptors.duplicate(descriptor)) {
            Terminal.Raw first = Terminal.raw(descriptor);
            Terminal.Raw second = Terminal.raw(other);
            first.close();
            assertThat(terminal.settings()).as("still raw for the second").isNotEqualTo(cooked);
            second.close();
            assertThat(terminal.settings()).isEqualTo(cooked);
        }
    }

    @Test
    @Clause("Y-1")
    void raw_ofWhatIsNoTerminal_saysSo() {
        try (Pipe pipe = Pipe.open()) {
            assertThatThrownBy(() -> Terminal.raw(pipe.reader()))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessageContaining("ENOTTY")
                    .hasMessageContaining("Terminal.isTerminal");
        }
    }

    @Test
    @Clause("Y-1")
    void raw_refused_leavesTheTerminalAsItWas() {
        FaultyTerminals getFails = new FaultyTerminals().refuseGet(Errno.EIO);
        FaultyTerminals setFails = new FaultyTerminals().refuseSet(Errno.EIO);
        for (FaultyTerminals faulty : new FaultyTerminals[] {getFails, setFails}) {
            assertThatThrownBy(() -> RawTerminal.open(() -> faulty, descriptor))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessageContaining("EIO");
            assertThat(terminal.settings()).isEqualTo(cooked);
        }
        RawTerminal.restoreAll(); // Nothing is left to be restored.
    }

    @Test
    @Clause("Y-1")
    void close_interrupted_triesAgain_andRefused_isThrownOnce() {
        FaultyTerminals faulty = new FaultyTerminals();
        Terminal.Raw raw = RawTerminal.open(() -> faulty, descriptor);
        faulty.refuseSet(Errno.EINTR);
        raw.close();
        assertThat(terminal.settings()).isEqualTo(cooked);

        Terminal.Raw other = RawTerminal.open(() -> faulty, descriptor);
        faulty.refuseSet(Errno.EIO);
        assertThatThrownBy(other::close).isInstanceOf(SystemCallException.class);
        other.close();
    }

    @Test
    @Clause("Y-1")
    void close_afterTheDescriptorIsClosed_doesNothing() {
        Terminal.Raw raw = Terminal.raw(descriptor);
        descriptor.close();
        raw.close();
        assertThat(terminal.settings()).isNotEqualTo(cooked);
    }
}
