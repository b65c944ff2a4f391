package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/// Every method of every handle throws once its exchange has ended, and says what to do.
class LifetimesTest extends HttpFixture {
    private static final List<Class<?>> HANDLES =
            List.of(
                    Request.class,
                    Response.class,
                    Headers.class,
                    Body.class,
                    ResponseStream.class,
                    EventStream.class);

    private final List<Object> kept = new CopyOnWriteArrayList<>();

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private <T> T keep(T handle) {
        kept.add(handle);
        return handle;
    }

    private void keep(Request request, Response response) {
        keep(request);
        keep(response);
        keep(request.headers());
        keep(request.body());
    }

    /// Keeps what a handler gets, also of routes without a handler of the test's.
    private void keepByMiddleware() {
        server.use(
                (request, response, next) -> {
                    keep(request, response);
                    return next.handle(request, response);
                });
    }

    // ------------------------------------------------------------------ calling everything

    private static void assertAllEnded(List<Object> handles) {
        for (Object handle : handles) {
            for (Class<?> type : HANDLES) {
                if (type.isInstance(handle)) {
                    methodsOf(type).forEach(method -> assertEnded(handle, method));
                }
            }
        }
    }

    /// All but [Request#loop()], which other threads need to return to the loop.
    private static List<Method> methodsOf(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> !method.getName().equals("loop"))
                .filter(method -> !method.getName().equals("with")) // Makes a copy by forEach.
                .toList();
    }

    private static void assertEnded(Object handle, Method method) {
        Object[] arguments =
                Arrays.stream(method.getParameterTypes())
                        .map(LifetimesTest::argument)
                        .toArray(Object[]::new);
        Throwable thrown =
                catchThrowable(
                        () -> {
                            try {
                                method.invoke(handle, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
        assertThat(thrown)
                .as(method + " of " + handle.getClass().getSimpleName())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has ended")
                .hasMessageContaining("response.onComplete");
    }

    private static @Nullable Object argument(Class<?> type) {
        if (type == String.class || type == Object.class) {
            return "late";
        }
        if (type == int.class) {
            return 303; // A status, and one of a redirection.
        }
        if (type == long.class) {
            return 0L;
        }
        if (type == boolean.class) {
            return true;
        }
        if (type == byte[].class) {
            return new byte[1];
        }
        if (type == Buffer.class) {
            return Buffer.allocate(8).put("late");
        }
        if (type == Path.class) {
            return Path.of("late");
        }
        if (type == Duration.class) {
            return Duration.ofSeconds(1);
        }
        if (type == Attribute.class) {
            return Attribute.of("late");
        }
        if (type == Cookie.class) {
            return Cookie.of("late", "1");
        }
        if (type == Class.class || type == java.lang.reflect.Type.class) {
            return String.class;
        }
        if (type == Runnable.class) {
            return (Runnable) () -> {};
        }
        if (type == Consumer.class) {
            return (Consumer<Object>) _ -> {};
        }
        if (type == BiConsumer.class) {
            return (BiConsumer<Object, Object>) (_, _) -> {};
        }
        if (type == Function.class) {
            return Function.identity();
        }
        return defaultOf(type);
    }

    /// Returns the default of a configuration, or a value from its factory.
    private static Object defaultOf(Class<?> type) {
        try {
            return type.getField("DEFAULT").get(null);
        } catch (ReflectiveOperationException e) {
            try {
                return type.getMethod("of", String.class).invoke(null, "late");
            } catch (ReflectiveOperationException none) {
                throw new LinkageError("add an argument of type " + type, none);
            }
        }
    }

    /// Calls all of them on the loop thread, and while no thread runs the loop.
    private void assertAllEndedEverywhere(int handles) {
        assertThat(kept).hasSizeGreaterThanOrEqualTo(handles);
        assertAllEnded(kept);
        List<Throwable> thrown = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        loop.submit(
                () -> {
                    Throwable failure = catchThrowable(() -> assertAllEnded(kept));
                    if (failure != null) {
                        thrown.add(failure);
                    }
                    done.countDown();
                });
        runUntil("called on the loop", () -> done.getCount() == 0);
        assertThat(thrown).isEmpty();
    }

    // ------------------------------------------------------------------ the ways an exchange ends

    @Test
    @Clause("H-6")
    void handles_ofASynchronousExchange_throwAfterIt() {
        keepByMiddleware();
        server.get("/text", (_, response) -> response.text("now"))
                .get(
                        "/stream",
                        (_, response) -> {
                            ResponseStream out = keep(response.stream());
                            out.write("now");
                            return out.end();
                        })
                .get(
                        "/events",
                        (_, response) -> {
                            EventStream events = keep(response.events());
                            events.close();
                            return events.closed();
                        });
        connect().send(request("/text")).answer(200);
        connect().send(request("/stream")).await("0\r\n\r\n");
        connect().send(request("/events")).await("0\r\n\r\n");
        assertAllEndedEverywhere(14);
    }

    @Test
    @Clause("H-6")
    void handles_ofAnExchangeThatIsReused_throwInTheNextHandler() {
        List<Throwable> thrown = new ArrayList<>();
        server.get(
                        "/first",
                        (request, response) -> {
                            keep(request, response);
                            return response.text("first");
                        })
                .get(
                        "/second",
                        (_, response) -> {
                            thrown.add(catchThrowable(() -> assertAllEnded(kept)));
                            return response.text("second");
                        });
        Talk talk = connect().send(request("/first") + request("/second"));
        assertThat(talk.answer(200)).isEqualTo("first");
        assertThat(talk.answer(200)).isEqualTo("second");
        assertThat(kept).hasSize(4);
        assertThat(thrown).hasSize(1).containsOnlyNulls();
    }

    @Test
    @Clause("H-6")
    void handles_ofAnAsynchronousExchange_throwAfterIt() {
        server.post(
                        "/text",
                        (request, response) -> {
                            keep(request, response);
                            return request.body().text().then(response::text);
                        })
                .get(
                        "/stream",
                        (request, response) -> {
                            keep(request, response);
                            ResponseStream out = keep(response.stream());
                            return Promise.delay(loop, Duration.ofMillis(1)).then(_ -> out.end());
                        });
        String post = "POST /text HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
        assertThat(connect().send(post + "abc").answer(200)).isEqualTo("abc");
        connect().send(request("/stream")).await("0\r\n\r\n");
        assertAllEndedEverywhere(9);
    }

    @Test
    @Clause({"H-6", "H-8"})
    void handles_ofABlockingHandler_throwAfterItHasReturned() throws InterruptedException {
        keepByMiddleware();
        List<Thread> threads = new CopyOnWriteArrayList<>();
        server.blocking(
                        "POST",
                        "/text",
                        (request, response) -> {
                            threads.add(Thread.currentThread());
                            keep(request, response);
                            response.text(request.body().text().await());
                        })
                .blocking(
                        "GET",
                        "/stream",
                        (_, response) -> {
                            threads.add(Thread.currentThread());
                            ResponseStream out = keep(response.stream());
                            out.write("now");
                            out.end();
                        })
                .blocking(
                        "GET",
                        "/events",
                        (_, response) -> {
                            threads.add(Thread.currentThread());
                            keep(response.events()).close();
                        });
        String post = "POST /text HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
        assertThat(connect().send(post + "abc").answer(200)).isEqualTo("abc");
        connect().send(request("/stream")).await("0\r\n\r\n");
        connect().send(request("/events")).await("0\r\n\r\n");
        for (Thread thread : threads) {
            thread.join();
        }
        assertAllEndedEverywhere(18);
    }

    @Test
    @Clause("H-6")
    void handles_ofALostExchange_workUntilItsHandlerHasSettled_andThrowAfterwards() {
        List<Deferred<String>> work = new ArrayList<>();
        List<String> read = new ArrayList<>();
        server.get(
                "/{kind}",
                (request, response) -> {
                    keep(request, response);
                    ResponseStream out =
                            request.pathParam("kind").equals("stream")
                                    ? keep(response.stream())
                                    : null;
                    Deferred<String> waits = loop.deferred();
                    work.add(waits);
                    return waits.promise()
                            .then(
                                    _ -> {
                                        read.add(request.target() + request.header("Host"));
                                        read.add(request.body().length() + "");
                                        if (out == null) {
                                            response.header("X-A", "b").text("swallowed");
                                        } else {
                                            read.add("write " + out.write("swallowed"));
                                            out.end();
                                        }
                                        return request.cancellation().isCancelled();
                                    });
                });
        Talk text = connect().send(request("/text"));
        Talk stream = connect().send(request("/stream")).await("\r\n\r\n");
        runUntil("both handlers work", () -> work.size() == 2);
        text.stream().abort();
        stream.stream().abort();
        runUntil("both clients are gone", () -> server.connections() == 0);
        try (LogCapture log = new LogCapture()) {
            loop.submit(() -> work.forEach(each -> each.resolve("go on")));
            runUntil("both handlers have settled", () -> read.size() == 5);
            turn();
            assertThat(log.messages()).isEmpty();
        }
        assertThat(read).containsExactly("/texta", "0", "/streama", "0", "write false");
        assertAllEndedEverywhere(9);
    }

    @Test
    @Clause("H-6")
    void handles_ofAnUpgradedExchange_throwAfterIt() {
        keepByMiddleware();
        CountDownLatch opened = new CountDownLatch(1);
        server.webSocket("/socket", _ -> opened.countDown());
        connect()
                .send(
                        """
                        GET /socket HTTP/1.1\r
                        Host: a\r
                        Connection: Upgrade\r
                        Upgrade: websocket\r
                        Sec-WebSocket-Version: 13\r
                        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                        \r
                        """);
        runUntil("upgraded", () -> opened.getCount() == 0);
        assertAllEndedEverywhere(4);
    }

    @Test
    @Clause("H-6")
    void stream_thatTheConnectionEnds_swallowsUntilItsHandlerEndsIt() {
        List<ResponseStream> streams = new ArrayList<>();
        server.get(
                "/stream",
                (_, response) -> {
                    streams.add(response.stream());
                    return Promise.resolved(loop, "the stream lives on");
                });
        Talk talk = connect().send(request("/stream")).await("\r\n\r\n");
        talk.stream().abort();
        runUntil("gone", () -> server.connections() == 0);
        ResponseStream out = streams.getFirst();
        assertThat(out.isOpen()).isFalse();
        assertThat(out.write("late")).isFalse();
        out.end();
        assertAllEnded(List.of(out));
    }
}
