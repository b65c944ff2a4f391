package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The admin address of the servers, and its clients `gyre top` and `gyre trace`.
final class TopTest {
    @TempDir Path directory;

    /// Returns the address that a server announces for its admin.
    private static String admin(Program server) throws InterruptedException {
        String line = server.out();
        assertThat(line).startsWith("Admin on ").contains(". Try: gyre top ");
        return line.replaceFirst(".* gyre top ", "");
    }

    private static Socket connect(int port) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        client.setSoTimeout(60_000);
        return client;
    }

    private static void request(Socket client) throws IOException {
        client.getOutputStream()
                .write("GET /plaintext HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(UTF_8));
        assertThat(client.getInputStream().readNBytes(12)).asString().isEqualTo("HTTP/1.1 200");
        byte[] rest = new byte[1024];
        assertThat(client.getInputStream().read(rest)).isPositive();
    }

    @Test
    void once_printsTheLoopsAndConnectionsOfAServer() throws Exception {
        try (Program server =
                        Program.start("serve", "--port", "0", "--loops", "2", "--admin", "0");
                Socket client = connect(ServeTest.port(server))) {
            String admin = admin(server);
            request(client);

            Execution loops = Execution.of("top", "--once", admin);
            assertThat(loops.err()).isEmpty();
            assertThat(loops.status()).isZero();
            assertThat(loops.lines())
                    .anyMatch(line -> line.startsWith("LOOP        BUSY DELAY50"))
                    .anyMatch(line -> line.startsWith("serve-0 "))
                    .anyMatch(line -> line.startsWith("serve-1 "));

            Execution list = Execution.of("top", "--once", "--connections", admin);
            assertThat(list.lines())
                    .contains("1 of 1 connections by age")
                    .anyMatch(line -> line.contains("127.0.0.1:" + client.getLocalPort()));
        }
    }

    @Test
    void json_isTheServersResponse_overAUnixDomainSocketToo() throws Exception {
        String path = directory.resolve("admin.sock").toString();
        try (Program server = Program.start("echo", "0", "--loops", "1", "--admin", path)) {
            assertThat(server.out()).startsWith("Echo on ");
            assertThat(admin(server)).isEqualTo("unix:" + path);
            assertThat(Execution.of("top", "--json", path).out())
                    .startsWith("{")
                    .contains("\"name\":\"echo-0\"");
            assertThat(Execution.of("top", "--json", "-c", "unix:" + path).out())
                    .contains("\"connections\":[]");
        }
    }

    @Test
    void top_onATerminal_showsTheFiguresAndEndsWithQ() throws Exception {
        Tool.require("script");
        try (Program server = Program.start("serve", "--port", "0", "--admin", "0")) {
            int _ = ServeTest.port(server);
            try (Program top =
                    Program.inShell(
                            "exec script -qec \"stty rows 24 cols 80; exec $*\" /dev/null",
                            "top",
                            admin(server))) {
                String line = top.out();
                while (!line.contains("serve-0")) {
                    line = top.out();
                }
                assertThat(line).as("erased before the text").contains("\033[Kserve-0");
                server.send(Signal.SIGKILL);
                while (!line.contains("No response since ")) {
                    line = top.out();
                }
                top.type("q");
                assertThat(top.status()).isZero();
            }
        }
    }

    @Test
    void top_thatIsTerminated_restoresTheTerminal() throws Exception {
        Tool.require("script");
        Path pid = directory.resolve("pid");
        try (Program server = Program.start("serve", "--port", "0", "--admin", "0")) {
            int _ = ServeTest.port(server);
            try (Program top =
                    Program.inShell(
                            """
                            exec script -qec "stty rows 24 cols 80
                            sh -c 'echo \\$\\$ > %s; exec \\"\\$@\\"' sh $*
                            echo status \\$?; stty -a" /dev/null
                            """
                                    .formatted(pid),
                            "top",
                            admin(server))) {
                String line = top.out();
                while (!line.contains("serve-0")) {
                    line = top.out();
                }
                long process = Long.parseLong(Files.readString(pid).strip());
                assertThat(ProcessHandle.of(process).orElseThrow().destroy()).isTrue();
                while (!line.contains("status ")) {
                    line = top.out();
                }
                assertThat(line).contains("\033[?25h\033[?1049l").contains("status 143");
                assertThat(String.join(" ", top.restOfOut()))
                        .contains(" icanon ", " echo ", " isig ")
                        .doesNotContain("-icanon");
            }
        }
    }

    @Test
    void admin_onLocalhost_isTheLoopbackAddress() throws Exception {
        try (Program server = Program.start("echo", "0", "--admin", "localhost:0")) {
            assertThat(server.out()).startsWith("Echo on ");
            assertThat(admin(server)).startsWith("127.0.0.1:");
        }
    }

    @Test
    void top_ofAnAddressWithoutAServer_saysWhatToDo() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        for (String option : List.of("--once", "--json")) {
            Execution execution = Execution.of("top", option, Integer.toString(free));
            assertThat(execution.status()).isEqualTo(1);
            assertThat(execution.err())
                    .startsWith("Cannot reach the admin address 127.0.0.1:" + free + ": ")
                    .contains("Start the server with --admin");
        }
    }

    @Test
    void top_ofTheServersOwnPort_saysThatItIsNoAdminAddress() throws Exception {
        try (Program server = Program.start("serve", "--port", "0")) {
            String port = Integer.toString(ServeTest.port(server));
            Execution execution = Execution.of("top", "--once", port);
            assertThat(execution.status()).isEqualTo(1);
            assertThat(execution.err())
                    .startsWith("127.0.0.1:" + port + " is not the admin address of a Gyre server");
        }
    }

    @Test
    void trace_ofAllConnections_printsTheirEventsAndStops() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--admin", "0");
                Socket client = connect(ServeTest.port(server))) {
            String admin = admin(server);
            request(client); // Warm.
            try (Program trace = Program.start("trace", admin, "--all")) {
                String line = "";
                // The trace begins at some time: request until it has seen one.
                Thread requests =
                        Thread.ofVirtual()
                                .start(
                                        () -> {
                                            try {
                                                while (!Thread.interrupted()) {
                                                    request(client);
                                                    Thread.sleep(20);
                                                }
                                            } catch (IOException | InterruptedException e) {
                                                // The end.
                                            }
                                        });
                while (!line.contains("GET /plaintext")) {
                    line = trace.out();
                }
                requests.interrupt();
                assertThat(line).matches("\\S+Z serve-\\d+ #\\d+ PROTOCOL .*");
                trace.send(Signal.SIGINT);
                assertThat(trace.status()).isEqualTo(130);
                assertThat(trace.restOfErr()).isEmpty();
            }
        }
    }

    @Test
    void trace_ofAnUnknownConnection_isRefusedWithTheReason() throws Exception {
        try (Program server = Program.start("echo", "0", "--admin", "0")) {
            assertThat(server.out()).startsWith("Echo on ");
            Execution execution =
                    Execution.of("trace", admin(server), "--connection", "4711", "--for", "30s");
            assertThat(execution.status()).isEqualTo(1);
            assertThat(execution.err()).contains("4711");
        }
    }

    @Test
    void trace_withoutAFilter_namesThem() {
        Execution execution = Execution.of("trace", "8081");
        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains("--connection", "--peer", "--route", "--all");
    }

    @ParameterizedTest
    @CsvSource({
        "0.0.0.0:8081, reachable from other machines",
        ":8081, reachable from other machines",
        "example.org:80, 'is a host name: write an IP address'",
        "'', is not an address",
        "70000, the port must be from 0 to 65535",
    })
    void admin_onAnAddressOfOtherMachines_isRefused(String address, String why) {
        Execution execution = Execution.of("echo", "0", "--admin", address);
        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains(why);
    }

    @ParameterizedTest
    @ValueSource(strings = {"top", "trace"})
    void address_thatIsNone_isRefused(String command) {
        String[] args =
                command.equals("top")
                        ? new String[] {"top", "no address"}
                        : new String[] {"trace", "no address", "--all"};
        Execution execution = Execution.of(args);
        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains("'no address' is not an address");
    }

    @Test
    void admin_onAPortThatIsTaken_namesItAndTheRemedy() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            Execution execution = Execution.of("serve", "--port", "0", "--admin", port);
            assertThat(execution.status()).isEqualTo(1);
            assertThat(execution.err())
                    .startsWith("Cannot listen on 127.0.0.1:" + port + ": EADDRINUSE");
        }
    }

    @Test
    void demo_withAnAdminAddress_linksTheDashboard() throws Exception {
        try (Program server = Program.start("serve", "--port", "0", "--admin", "0")) {
            int port = ServeTest.port(server);
            String admin = admin(server);
            String page =
                    new String(
                            Tool.talk(
                                    new byte[0],
                                    "curl",
                                    "-sS",
                                    "--noproxy",
                                    "*",
                                    "http://127.0.0.1:" + port + "/"),
                            UTF_8);
            assertThat(page).contains("<a href=\"http://" + admin + "/\">Dashboard");
        }
    }
}
