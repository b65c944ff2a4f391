package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.io.Buffer;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/// Who may use a request and its answer: another thread's bytes would go to whoever is served just then.
class HandlerThreadsTest extends HttpFixture {
    private static final String FOREIGN = "a thread from elsewhere";

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    /// What each of them throws on another thread, while the loop thread is in a callback and waits for that.
    private static Map<String, Throwable> thrownElsewhere(Map<String, ThrowingCallable> calls) {
        Map<String, Throwable> thrown = new LinkedHashMap<>();
        Thread thread =
                Thread.ofPlatform()
                        .name(FOREIGN)
                        .start(
                                () ->
                                        calls.forEach(
                                                (name, call) ->
                                                        thrown.put(name, catchThrowable(call))));
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return thrown;
    }

    private static void assertAllRefused(Map<String, ThrowingCallable> calls) {
        thrownElsewhere(calls)
                .forEach(
                        (name, thrown) ->
                                assertThat(thrown)
                                        .as(name)
                                        .isInstanceOf(WrongThreadException.class)
                                        .hasMessageContaining(name)
                                        .hasMessageContaining(FOREIGN)
                                        .hasMessageContaining(Thread.currentThread().getName())
                                        .hasMessageContaining("loop.submit")
                                        .hasMessageContaining("loop.promisify")
                                        .hasMessageContaining("such as blockingGet"));
    }

    private static Map<String, ThrowingCallable> callsOf(Response response) {
        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("Response.status", () -> response.status(404));
        calls.put("Response.header", () -> response.header("A", "b"));
        calls.put("Response.addHeader", () -> response.addHeader("A", "b"));
        calls.put("Response.send", response::send);
        calls.put("Response.text", () -> response.text("secret"));
        calls.put("Response.html", () -> response.html("secret"));
        calls.put("Response.json", () -> response.json("secret"));
        calls.put("Response.sendFile", () -> response.sendFile(Path.of("secret")));
        calls.put("Response.stream", response::stream);
        calls.put("Response.events", response::events);
        calls.put("Response.isCommitted", response::isCommitted);
        calls.put("Response.onComplete", () -> response.onComplete(() -> {}));
        calls.put("Response.bodyBytes", response::bodyBytes);
        return calls;
    }

    private static Map<String, ThrowingCallable> callsOf(Request request) {
        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("Request.method", request::method);
        calls.put("Request.target", request::target);
        calls.put("Request.path", request::path);
        calls.put("Request.query", () -> request.queryParam("a"));
        calls.put("Request.isHttp10", request::isHttp10);
        calls.put("Request.headers", request::headers);
        calls.put("Request.header", () -> request.header("Host"));
        calls.put("Request.body", request::body);
        calls.put("Request.cancellation", request::cancellation);
        calls.put("Request.remoteAddress", request::remoteAddress);
        calls.put("Request.tls", request::tls);
        return calls;
    }

    private static Map<String, ThrowingCallable> callsOf(Body body) {
        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("Body.length", body::length);
        calls.put("Body.bytes", body::bytes);
        calls.put("Body.text", body::text);
        calls.put("Body.onData", () -> body.onData(_ -> {}));
        calls.put("Body.onEnd", () -> body.onEnd(() -> {}));
        calls.put("Body.onFailure", () -> body.onFailure(_ -> {}));
        calls.put("Body.pause", body::pause);
        calls.put("Body.resume", body::resume);
        calls.put("Body.stream", body::stream);
        calls.put("Body.trailers", body::trailers);
        return calls;
    }

    private static Map<String, ThrowingCallable> callsOf(ResponseStream out) {
        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("ResponseStream.write", () -> out.write("secret"));
        calls.put("ResponseStream.flush", out::flush);
        calls.put("ResponseStream.onWritable", () -> out.onWritable(() -> {}));
        calls.put("ResponseStream.onClose", () -> out.onClose(() -> {}));
        calls.put("ResponseStream.trailer", () -> out.trailer("A", "b"));
        calls.put("ResponseStream.end", out::end);
        calls.put("ResponseStream.isOpen", out::isOpen);
        return calls;
    }

    @Test
    @Clause("L-9")
    void methods_onAForeignThread_areRefusedBeforeAnythingIsTouched() {
        List<String> said = new ArrayList<>();
        server.any(
                "/me",
                (request, response) -> {
                    assertAllRefused(callsOf(request));
                    assertAllRefused(callsOf(request.body()));
                    assertAllRefused(callsOf(response));
                    thrownElsewhere(Map.of("toString", () -> said.add(request.toString())));
                    ResponseStream out = response.stream();
                    assertAllRefused(callsOf(out));
                    Buffer content = Buffer.allocate(8).put("secret");
                    thrownElsewhere(Map.of("", () -> out.write(content)));
                    assertThat(content.readable()).as("what is left of it").isEqualTo(6);
                    out.write("mine");
                    assertAllRefused(callsOf(response));
                    return out.end();
                });
        String head = "POST /me HTTP/1.1\r\nHost: a\r\nContent-Length: ";
        Talk talk = connect().send(head + "0\r\n\r\n" + head + "1\r\n\r\nx");
        String whole = "4\r\nmine\r\n0\r\n\r\n";
        runUntil(
                () -> "two answers: " + talk.received(),
                () -> talk.received().split(whole, -1).length == 3);
        assertThat(talk.received()).doesNotContain("secret", "500");
        assertThat(said.getFirst()).doesNotContain("/me");
    }

    @Test
    @Clause("L-9")
    void events_onAForeignThread_areRefused() {
        server.get(
                "/events",
                (_, response) -> {
                    EventStream events = response.events();
                    Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
                    calls.put("ResponseStream.write", () -> events.send("secret"));
                    calls.put("ResponseStream.onClose", () -> events.onClose(() -> {}));
                    calls.put("ResponseStream.isOpen", events::closed);
                    calls.put("ResponseStream.end", events::close);
                    assertAllRefused(calls);
                    events.send("mine");
                    events.close();
                    return events.closed();
                });
        Talk talk = connect().send(request("/events")).await("0\r\n\r\n");
        assertThat(talk.received()).contains("data: mine").doesNotContain("secret");
    }

    @Test
    @Clause("L-9")
    void response_keptByAThread_answersNobodyElse() throws InterruptedException {
        List<Response> kept = new ArrayList<>();
        server.get(
                        "/kept",
                        (_, response) -> {
                            kept.add(response);
                            return response.text("first");
                        })
                .get(
                        "/other",
                        (_, response) -> {
                            assertAllRefused(callsOf(kept.getFirst()));
                            return response.text("other's");
                        });
        Talk talk = connect().send(request("/kept") + request("/other"));
        assertThat(talk.answer(200)).isEqualTo("first");
        assertThat(talk.answer(200)).isEqualTo("other's");
    }

    @Test
    @Clause("H-5")
    void blockingHandler_andThreadsItStarts_useEverythingTheHandlerMay() {
        List<String> said = new ArrayList<>();
        server.blocking(
                "POST",
                "/b",
                (request, response) -> {
                    CountDownLatch closed = new CountDownLatch(1);
                    request.body().onData(_ -> {}).onEnd(() -> said.add("end"));
                    ResponseStream out = response.header("X-A", "b").stream();
                    out.onWritable(() -> {}).onClose(closed::countDown).trailer("X-B", "c");
                    Thread other =
                            Thread.startVirtualThread(
                                    () -> {
                                        out.write(request.path() + response.header("X-A"));
                                        out.flush();
                                        out.end();
                                    });
                    other.join();
                    closed.await();
                });
        server.blocking(
                "GET",
                "/events",
                (request, response) -> {
                    CountDownLatch end = new CountDownLatch(1);
                    request.body().onEnd(end::countDown).onData(_ -> {});
                    end.await();
                    EventStream events = response.events();
                    events.send("one");
                    events.close();
                });
        Talk talk = connect().send("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
        talk.await("/bb\r\n0\r\n\r\n").forget();
        talk.send(request("/events")).await("data: one\n\n\r\n0\r\n\r\n");
        assertThat(said).isSubsetOf("end");
    }
}
