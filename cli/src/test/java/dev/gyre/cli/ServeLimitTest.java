package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.os.Signal;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// `gyre serve` in a process that may have few descriptors, with more peers than it can accept.
class ServeLimitTest {
    private static final int LIMIT = 250;
    private static final int SERVED = 80;
    private static final int FILES = 40;
    private static final int FILE_BYTES = 40_000; // Large enough to be read from a descriptor.

    @TempDir Path directory;
    private final List<Socket> peers = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket peer : peers) {
            peer.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring"})
    void serve_atTheDescriptorLimit_stillServesFilesAndSaysSoOnce(String backend) throws Exception {
        for (int i = 0; i < FILES; i++) {
            Files.write(directory.resolve("file" + i), new byte[FILE_BYTES]);
        }
        try (Program serve =
                Program.inShell(
                        "ulimit -n " + LIMIT + "; exec \"$@\"",
                        "serve",
                        "--port=0",
                        "--loops=1",
                        "--backend=" + backend,
                        directory.toString())) {
            int port = Integer.parseInt(serve.out().replaceAll(".*localhost:(\\d+)/.*", "$1"));
            for (int i = 0; i < LIMIT; i++) {
                peers.add(new Socket(InetAddress.getLoopbackAddress(), port));
            }
            List<String> said = new ArrayList<>();
            while (said.stream().noneMatch(line -> line.contains("has stopped accepting"))) {
                said.add(serve.err());
            }

            List<String> responses = new ArrayList<>();
            for (int i = 0; i < SERVED; i++) {
                responses.add(get(peers.get(i), "/file" + i % FILES));
            }
            close();
            serve.send(Signal.SIGTERM);
            serve.status();
            said.addAll(serve.restOfErr());

            assertThat(responses).as("of files, at the limit").containsOnly("HTTP/1.1 200 OK");
            assertThat(said)
                    .filteredOn(line -> line.contains("open files"))
                    .singleElement()
                    .asString()
                    .contains("limit of 250 open files", "25 of which", "ulimit -n");
            assertThat(serve.restOfOut()).last().asString().contains(" shed for lack of");
        }
    }

    /// @return the first line of the response
    private static String get(Socket peer, String path) throws IOException {
        peer.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes(US_ASCII));
        InputStream input = new DataInputStream(peer.getInputStream());
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = input.read();
            if (next < 0) {
                return "closed behind: " + head;
            }
            head.append((char) next);
        }
        String status = head.substring(0, head.indexOf("\r\n"));
        if (status.endsWith(" 200 OK")) {
            assertThat(input.readNBytes(FILE_BYTES)).hasSize(FILE_BYTES);
        }
        return status;
    }
}
