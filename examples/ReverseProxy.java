/// Passes requests on to another server: `ReverseProxy.java 8080 http://localhost:9090`. Ctrl-C ends it.
import module dev.gyre.http;

/// What is for the next hop alone (RFC 9110, 7.6.1).
final String hop = "connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host";

void main(String[] arguments) {
    var config = HttpClientConfig.DEFAULT.withTimeout(Duration.ZERO).withMaxConnections(256);
    try (var loop = EventLoop.open()) {
        var client = HttpClient.on(loop, config.withStallTimeout(Duration.ofSeconds(30)));
        var server = HttpServer.on(loop, HttpConfig.DEFAULT.withMaxBody(1L << 40));
        server.any("/{path...}", (in, out) -> pass(client, URI.create(arguments[1]), in, out));
        IO.println("listening on " + server.listen(Integer.parseInt(arguments[0])).uri());
        Signals.on(loop, Signal.SIGINT, Signal.SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

Promise<?> pass(HttpClient client, URI upstream, Request request, Response response) {
    var call = client.request(request.method(), upstream).target(request.target());
    call.cancelOn(request.cancellation()); // Who has left wants no answer.
    copy(request.headers(), hop + "|content-length", call::addHeader);
    var down = new AtomicReference<ResponseStream>();
    call.onHead(head -> down.set(begin(head, call, response)));
    var answer = request.body().length() == 0 ? call.send() : upload(request.body(), call);
    return answer.then(whole -> down.get().end(), this::excuse);
}

void copy(Headers from, String but, BiConsumer<String, String> to) {
    from.forEach(
            (name, value) -> {
                if (!name.toLowerCase().matches(but) && !from.lists("Connection", name)) {
                    to.accept(name, value);
                }
            });
}

Promise<HttpAnswer> upload(Body body, HttpCall call) {
    var up = body.length() > 0 ? call.stream(body.length()) : call.stream();
    up.onWritable(body::resume);
    body.onData(data -> heed(up.write(data), body::pause)).onEnd(up::end);
    return up.answer();
}

ResponseStream begin(HttpAnswer head, HttpCall call, Response response) {
    copy(head.headers(), hop, response.status(head.status())::addHeader);
    var down = response.stream().onWritable(call::resume);
    call.onData(data -> heed(down.write(data) || !down.isOpen(), call::pause));
    return down;
}

void heed(boolean room, Runnable pause) {
    if (!room) pause.run(); // One side goes no faster than the other takes it.
}

/// An error; or, if the answer has begun, a cut that nobody takes for its end.
Promise<?> excuse(Throwable failure) {
    throw new HttpException(failure instanceof SocketTimeoutException ? 504 : 502, "no answer\n");
}
