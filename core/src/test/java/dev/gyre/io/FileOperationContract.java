package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.io.operation.FileOpenOperation;
import dev.gyre.io.operation.FileStatOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/// File operations on every backend of a real kernel.
abstract class FileOperationContract extends OperationFixture {
    @TempDir Path directory;

    private Descriptor open(Path path, StandardOpenOption... options) {
        Descriptor[] opened = {null};
        FileOpenOperation open =
                operations.open(
                        path,
                        op -> {
                            if (op.result() >= 0) {
                                opened[0] = op.opened();
                            } else {
                                completed.add("open " + op.failure().errnoName());
                            }
                        },
                        options);
        open.start();
        runUntilDone(open);
        return opened[0];
    }

    @Test
    @Clause("O-1")
    void file_isWrittenSyncedReadLookedAtAndClosed() throws IOException {
        Path path = directory.resolve("file");
        Descriptor file =
                open(
                        path,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        Operation write = operations.writeAt(file, 3, bytes("hello"), note("write")).start();
        runUntilDone(write);
        Operation sync = operations.sync(file, true, note("sync")).start();
        runUntilDone(sync);
        Buffer buffer = Buffer.allocate(64);
        Operation read = operations.readAt(file, 4, buffer, note("read")).start();
        runUntilDone(read);
        assertThat(buffer.getText(US_ASCII)).isEqualTo("ello");
        Operation end = operations.readAt(file, 100, buffer.clear(), note("end")).start();
        runUntilDone(end);
        FileStatOperation stat = operations.stat(file, note("stat"));
        stat.start();
        runUntilDone(stat);
        assertThat(stat.status().size()).isEqualTo(8);
        assertThat(stat.status().isRegularFile()).isTrue();
        FileStatOperation byPath = operations.stat(directory, note("stat"));
        byPath.start();
        runUntilDone(byPath);
        assertThat(byPath.status().isDirectory()).isTrue();
        Operation close = operations.close(file, note("close")).start();
        assertThat(file.isOpen()).isFalse();
        runUntilDone(close);
        assertThat(completed)
                .containsExactly(
                        "write 5", "sync 0", "read 4", "end 0", "stat 0", "stat 0", "close 0");
        assertThat(Files.readString(path)).isEqualTo("\0\0\0hello");
        assertThat(Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toInstant())
                .isEqualTo(stat.status().modified());
    }

    @Test
    @Clause({"O-1", "E-1"})
    void file_thatIsNotThere_isAFailureThatSaysSo() {
        assertThat(open(directory.resolve("nothing"), StandardOpenOption.READ)).isNull();
        FileStatOperation stat = operations.stat(directory.resolve("nothing"), note("stat"));
        stat.start();
        runUntilDone(stat);
        assertThat(completed).containsExactly("open ENOENT", "stat ENOENT");
        assertThatThrownBy(stat::status).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(
                        () ->
                                operations.open(
                                        directory, op -> {}, StandardOpenOption.DELETE_ON_CLOSE))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Clause("O-7")
    void file_closedWhileAnOperationUsesIt_keepsItsNumberUntilThen() throws IOException {
        Path path = Files.writeString(directory.resolve("file"), "content");
        Descriptor file = open(path, StandardOpenOption.READ);
        Buffer buffer = Buffer.allocate(64);
        Operation read = operations.readAt(file, 0, buffer, note("read")).start();
        file.close();
        runUntilDone(read);
        assertThat(completed).containsExactly("read 7");
        assertThat(buffer.getText(US_ASCII)).isEqualTo("content");
    }

    @Test
    @Clause("O-1")
    void sendFile_sendsAPartWithoutABufferOfOurs() throws IOException {
        Path path = directory.resolve("large");
        byte[] content = new byte[3 << 20];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i ^ (i >>> 8));
        }
        Files.write(path, content);
        Descriptor file = open(path, StandardOpenOption.READ);
        List<Descriptor> ends = connection();
        int bytes = content.length - 1000;
        Operation send =
                operations.sendFile(file, 1000, 4L << 20, ends.get(0), note("send")).start();
        int[] received = {0};
        operations
                .receive(
                        ends.get(1),
                        op -> {
                            while (op.result() > 0 && op.received().readable() > 0) {
                                int at = 1000 + received[0]++;
                                assertThat(op.received().get()).isEqualTo(content[at]);
                            }
                        })
                .start();
        runUntil("all received", () -> received[0] == bytes);
        runUntilDone(send);
        assertThat(completed).containsExactly("send " + bytes);
        file.close();
    }

    @Test
    @Clause("O-1")
    void splice_movesBytesThroughAPipe() {
        List<Descriptor> in = connection();
        List<Descriptor> out = connection();
        try (Pipe pipe = Pipe.open()) {
            Operation fill =
                    operations.spliceToPipe(in.get(1), pipe.writer(), 100, note("fill")).start();
            settle();
            send(in.get(0), "through the pipe");
            runUntilDone(fill);
            Operation empty =
                    operations
                            .spliceFromPipe(pipe.reader(), out.get(0), 100, note("empty"))
                            .start();
            runUntilDone(empty);
            assertThat(receive(out.get(1))).isEqualTo("through the pipe");
            Operation more =
                    operations.spliceFromPipe(pipe.reader(), out.get(0), 100, note("more")).start();
            runUntilDone(more);
            assertThat(completed).containsExactly("fill 16", "empty 16", "more ENOBUFS");
        }
    }
}
