/// Forwards requests to another server: `ReverseProxy.java 8080 http://localhost:9090`.
/// Press Ctrl-C to stop.
import module dev.gyre.http;

/// Headers for one hop only (RFC 9110, 7.6.1), in lower case.
final Set<String> hopHeaders =
        Set.of(
                "connection",
                "keep-alive",
                "proxy-authenticate",
                "proxy-authorization",
                "proxy-connection",
                "te",
                "trailer",
                "transfer-encoding",
                "upgrade");

/// Headers that the HTTP client or this proxy sets itself.
final Set<String> ownHeaders =
        Set.of(
                "host",
                "content-length",
                "forwarded",
                "x-forwarded-for",
                "x-forwarded-host",
                "x-forwarded-port",
                "x-forwarded-proto");

void main(String[] arguments) {
    var upstream = URI.create(arguments[1]);
    var config = HttpClientConfig.DEFAULT.withTimeout(Duration.ZERO).withMaxConnections(256);
    try (var loop = EventLoop.open()) {
        var client = HttpClient.on(loop, config.withStallTimeout(Duration.ofSeconds(30)));
        var server = HttpServer.on(loop).maxBody(1L << 40);
        server.any("/{path...}", (in, out) -> forward(client, upstream, in, out));
        IO.println("listening on " + server.listen(Integer.parseInt(arguments[0])).uri());
        Signals.on(loop, Signal.SIGINT, Signal.SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

Promise<?> forward(HttpClient client, URI upstream, Request request, Response response) {
    var call = client.request(request.method(), upstream).target(request.target());
    call.cancelOn(request.cancellation()); // The client disconnected.
    copyHeaders(request.headers(), ownHeaders, call::addHeader);
    describeClient(request, call);
    var down = new AtomicReference<ResponseStream>();
    call.onHead(head -> down.set(startResponse(head, call, response)));
    var body = request.body();
    return (body.length() == 0 ? call.send() : upload(body, call))
            .then(_ -> down.get().end(), this::upstreamFailed);
}

/// Replaces the headers of this kind that the client sent: it can forge them.
void describeClient(Request request, ClientRequest call) {
    var client = (InetSocketAddress) request.remoteAddress();
    call.header("X-Forwarded-For", client.getAddress().getHostAddress());
    call.header("X-Forwarded-Proto", request.scheme());
    call.header("X-Forwarded-Host", request.host());
}

void copyHeaders(Headers from, Set<String> except, BiConsumer<String, String> to) {
    from.forEach(
            (name, value) -> {
                String key = name.toLowerCase(Locale.ROOT);
                boolean skip = hopHeaders.contains(key) || except.contains(key);
                if (!skip && !from.containsToken("Connection", name)) to.accept(name, value);
            });
}

Promise<ClientResponse> upload(Body body, ClientRequest call) {
    var up = body.length() > 0 ? call.stream(body.length()) : call.stream();
    up.onWritable(body::resume);
    body.onData(data -> pauseUnless(up.write(data), body::pause)).onEnd(up::end);
    return up.response();
}

ResponseStream startResponse(ClientResponse head, ClientRequest call, Response response) {
    copyHeaders(head.headers(), Set.of(), response.status(head.status())::addHeader);
    var down = response.stream().onWritable(call::resume);
    call.onData(data -> pauseUnless(down.write(data) || !down.isOpen(), call::pause));
    return down;
}

/// Backpressure: one side sends no faster than the other reads.
void pauseUnless(boolean writable, Runnable pause) {
    if (!writable) pause.run();
}

/// Sends an error, or aborts a response that has started: it must not look complete.
Promise<?> upstreamFailed(Throwable failure) {
    int status = failure instanceof SocketTimeoutException ? 504 : 502;
    throw new HttpException(status, "the upstream server did not respond");
}
