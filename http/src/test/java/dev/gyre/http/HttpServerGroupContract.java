package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.GroupReport;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/// A server on loops that run on their own threads.
@Timeout(120)
abstract class HttpServerGroupContract {
    private static final InetSocketAddress ANY_PORT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final LoopGroup group =
            LoopGroup.of(
                    2,
                    LoopGroupConfig.DEFAULT.withLoopConfig(
                            LoopConfig.DEFAULT.withName("http").withBackend(backend())));
    private final HttpServerGroup server = HttpServer.on(group);
    private final List<Client> clients = new ArrayList<>();

    protected abstract BackendKind backend();

    @AfterEach
    void close() throws IOException {
        for (Client each : clients) {
            each.close();
        }
        group.close();
    }

    /// A blocking connection.
    private static final class Client implements AutoCloseable {
        private final Socket socket;

        Client(HttpServerGroup server) throws IOException {
            InetSocketAddress address = (InetSocketAddress) server.address();
            socket = new Socket(address.getAddress(), address.getPort());
            socket.setSoTimeout(60_000);
        }

        void send(String path) throws IOException {
            String request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(ISO_8859_1));
        }

        /// Returns the body of a response.
        String receive() throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = socket.getInputStream().read();
                if (next < 0) {
                    throw new IOException("the connection ended after: " + head);
                }
                head.append((char) next);
            }
            int at = head.indexOf("Content-Length: ") + "Content-Length: ".length();
            int length = Integer.parseInt(head.substring(at, head.indexOf("\r\n", at)));
            return new String(socket.getInputStream().readNBytes(length), ISO_8859_1);
        }

        String get(String path) throws IOException {
            send(path);
            return receive();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private Client connect() throws IOException {
        Client client = new Client(server);
        clients.add(client);
        return client;
    }

    private void listen() {
        server.get("/", (request, response) -> response.text(request.loop().config().name()))
                .listen(ANY_PORT, ListenerConfig.DEFAULT);
        group.start();
    }

    /// Returns a client of a loop.
    private Client connectTo(String loop) throws IOException {
        while (true) {
            Client client = connect();
            if (client.get("/").equals(loop)) {
                return client;
            }
        }
    }

    @Clause("G-2")
    @Test
    void requests_areServedByAllLoops_andDrained() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        server.get(
                "/slow",
                (request, response) -> {
                    begun.countDown();
                    return Promise.delay(request.loop(), Duration.ofMillis(200))
                            .then(_ -> response.text("done"));
                });
        listen();
        Client zero = connectTo("http-0");
        Client one = connectTo("http-1");
        assertThat(server.connections()).isEqualTo(clients.size());
        zero.send("/slow");
        one.send("/slow");
        begun.await();
        assertThat(server.activeConnections().toCompletableFuture().get()).isEqualTo(2);
        CompletableFuture<GroupReport> ended =
                group.shutdown(Duration.ofSeconds(60)).toCompletableFuture();
        assertThat(zero.receive()).isEqualTo("done");
        assertThat(one.receive()).isEqualTo("done");
        GroupReport report = ended.get();
        assertThat(report.isGraceful()).as(report.toString()).isTrue();
    }

    @Clause("G-1")
    @Test
    void await_startsTheGroup_andReturnsAtItsEnd() throws Exception {
        server.get("/", (_, response) -> response.text("hello"))
                .listen(ANY_PORT, ListenerConfig.DEFAULT);
        CompletableFuture<GroupReport> awaited = CompletableFuture.supplyAsync(server::await);
        assertThat(connect().get("/")).isEqualTo("hello");
        assertThat(awaited).isNotDone();
        GroupReport report = group.shutdown(Duration.ofSeconds(60)).toCompletableFuture().get();
        assertThat(awaited.get()).isEqualTo(report);
    }

    @Clause("G-1")
    @Test
    void loopThatFailsUnderLoad_losesItsConnections_andNewClientsAreServed() throws Exception {
        server.get(
                "/kill",
                (request, response) -> {
                    request.loop()
                            .submitPriority(
                                    () -> {
                                        throw new InternalError("as the test wants");
                                    });
                    return response.text("soon");
                });
        listen();
        Client survivor = connectTo("http-0");
        Client victim = connectTo("http-1");
        Client killer = connectTo("http-1");
        AtomicInteger served = new AtomicInteger();
        try (ExecutorService load = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(load.submit(() -> loadUntil(served, 2_000)));
            }
            while (served.get() < 200) {
                assertThat(survivor.get("/")).isEqualTo("http-0");
            }
            killer.send("/kill");
            while (served.get() < 2_000) {
                assertThat(survivor.get("/")).as("it lives on the other loop").isEqualTo("http-0");
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        assertThatThrownBy(() -> victim.get("/")).isInstanceOf(IOException.class);
        connectTo("http-0");
        connectTo("http-1");
        GroupReport report = group.shutdown(Duration.ofSeconds(60)).toCompletableFuture().get();
        assertThat(report.failures()).singleElement().matches(each -> each.loop().equals("http-1"));
    }

    /// Sends requests, and connects again after an error.
    private Object loadUntil(AtomicInteger served, int target) throws IOException {
        int errors = 0;
        while (served.get() < target) {
            try (Client client = new Client(server)) {
                while (served.get() < target) {
                    client.get("/");
                    served.incrementAndGet();
                }
            } catch (IOException e) {
                if (++errors > 2) { // One for the failure, one for a connection in the backlog.
                    throw e;
                }
            }
        }
        return served;
    }

    @Clause("G-1")
    @Test
    void errorThatAHandlerThrows_isAResponse_andEndsNoLoop() throws Exception {
        server.get(
                "/fails",
                (_, _) -> {
                    throw new InternalError("as the test wants");
                });
        listen();
        Client client = connectTo("http-0");
        client.get("/fails");
        assertThat(client.get("/")).isEqualTo("http-0");
    }

    @Clause("G-3")
    @Test
    void maxConnections_isThatOfTheGroup_whicheverLoopAClientReaches() throws Exception {
        server.get("/", (_, response) -> response.text("served"))
                .listen(ANY_PORT, ListenerConfig.DEFAULT.withMaxConnections(10));
        group.start();
        for (int trial = 0; trial < 20; trial++) {
            List<Client> some = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                Client client = new Client(server);
                some.add(client);
                assertThat(client.get("/")).isEqualTo("served");
            }
            assertThat(server.connections()).isEqualTo(10);
            try (Client eleventh = new Client(server)) {
                eleventh.send("/");
                assertThat(some.getFirst().get("/")).as("a round trip later").isEqualTo("served");
                assertThat(eleventh.socket.getInputStream().available()).isZero();
                some.removeFirst().close();
                assertThat(eleventh.receive()).isEqualTo("served");
            }
            for (Client each : some) {
                each.close();
            }
        }
    }

    @Clause("G-2")
    @Test
    void unixSocket_isServedByAllLoops(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("socket");
        Set<EventLoop> used = ConcurrentHashMap.newKeySet();
        server.get(
                        "/",
                        (request, response) -> {
                            used.add(request.loop());
                            return response.text("over a path");
                        })
                .listen(UnixDomainSocketAddress.of(path), ListenerConfig.DEFAULT);
        group.start();
        List<SocketChannel> channels = new ArrayList<>();
        while (used.size() < 2) {
            SocketChannel channel = SocketChannel.open(server.address());
            channels.add(channel);
            channel.write(
                    ByteBuffer.wrap("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(ISO_8859_1)));
            ByteBuffer room = ByteBuffer.allocate(1000);
            channel.read(room);
            assertThat(new String(room.array(), 0, room.position(), ISO_8859_1))
                    .endsWith("over a path");
        }
        for (SocketChannel each : channels) {
            each.close();
        }
        assertThatThrownBy(server::uri).hasMessageContaining("has no URI");
    }

    @Clause("G-1")
    @Test
    void broadcastsOfThreadsAndLoops_arriveAtAllSocketsInOrder() throws Exception {
        int sockets = 8;
        int messages = 300;
        WebSocketGroup chat = new WebSocketGroup(SlowConsumerPolicy.CLOSE, 64 << 20);
        CountDownLatch joined = new CountDownLatch(sockets);
        server.webSocket(
                "/chat",
                socket -> {
                    chat.add(socket);
                    socket.onText(chat::broadcast);
                    joined.countDown();
                });
        listen();
        String uri = server.uri().toString().replace("http:", "ws:") + "chat";
        int publishers = 3 + sockets; // Threads, and members whose messages are sent on.
        CountDownLatch received = new CountDownLatch(sockets * publishers * messages);
        List<String> wrong = new ArrayList<>();
        try (EventLoop loop = EventLoop.open()) {
            List<WebSocket> all = new ArrayList<>();
            for (int i = 0; i < sockets; i++) {
                Map<String, Integer> seen = new HashMap<>();
                var _ =
                        WebSocket.connect(loop, URI.create(uri))
                                .thenAccept(
                                        socket -> {
                                            all.add(socket);
                                            socket.onText(
                                                    text -> {
                                                        String[] words = text.split(" ", -1);
                                                        int expected =
                                                                seen.merge(
                                                                                words[0],
                                                                                1,
                                                                                Integer::sum)
                                                                        - 1;
                                                        if (!words[1].equals("" + expected)) {
                                                            wrong.add(text);
                                                        }
                                                        received.countDown();
                                                    });
                                        });
            }
            Thread runner = Thread.ofPlatform().start(loop::run);
            joined.await();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                String name = "thread" + i;
                threads.add(
                        Thread.ofPlatform()
                                .start(
                                        () -> {
                                            for (int j = 0; j < messages; j++) {
                                                chat.broadcast(name + " " + j);
                                            }
                                        }));
            }
            loop.submit(
                    () -> {
                        for (int j = 0; j < messages; j++) {
                            for (int i = 0; i < all.size(); i++) {
                                all.get(i).send("socket" + i + " " + j);
                            }
                        }
                    });
            for (Thread each : threads) {
                each.join();
            }
            received.await();
            loop.stop();
            runner.join();
        }
        assertThat(wrong).isEmpty();
        assertThat(chat.dropped()).isZero();
    }

    @Clause("G-1")
    @Test
    void socketThatJoinsOnAnotherThread_isRefused() throws Exception {
        WebSocketGroup chat = new WebSocketGroup();
        CompletableFuture<WebSocket> opened = new CompletableFuture<>();
        server.webSocket("/chat", opened::complete);
        listen();
        try (EventLoop loop = EventLoop.open()) {
            String uri = server.uri().toString().replace("http:", "ws:") + "chat";
            var _ = WebSocket.connect(loop, URI.create(uri)).thenAccept(_ -> loop.stop());
            loop.run();
        }
        WebSocket socket = opened.get();
        assertThatThrownBy(() -> chat.add(socket))
                .isInstanceOf(WrongThreadException.class)
                .hasMessageContaining("WebSocketGroup.add");
        assertThatThrownBy(() -> chat.remove(socket)).isInstanceOf(WrongThreadException.class);
    }

    @Clause("G-1")
    @Test
    void methodOnALoopThread_whileAnotherThreadDefines_throws() throws Exception {
        CountDownLatch defining = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        server.get(
                "/define",
                (_, response) -> {
                    try {
                        server.get("/x", (_, other) -> other.text("x"));
                        return response.text("defined");
                    } catch (IllegalStateException e) {
                        return response.text("refused");
                    }
                });
        listen();
        Client one = connectTo("http-1");
        CompletableFuture<?> defined =
                CompletableFuture.runAsync(
                        () ->
                                server.route(
                                        "/slow",
                                        routes -> {
                                            defining.countDown();
                                            awaitLatch(release); // Blocks loop 0, and then loop 1.
                                            routes.get("/y", (_, response) -> response.text("y"));
                                        }));
        defining.await();
        one.send("/define");
        Future<String> refused =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return one.receive();
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        assertThat(refused).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("refused");
        release.countDown();
        defined.get();
        assertThat(one.get("/slow/y")).isEqualTo("y");
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
