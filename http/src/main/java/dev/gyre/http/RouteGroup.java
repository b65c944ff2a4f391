package dev.gyre.http;

/// Routes below one prefix, or of one virtual host, with their own middleware, error handlers and
/// limits. See [Routes#route(String, java.util.function.Consumer)] and [HttpServer#host].
public interface RouteGroup extends Routes<RouteGroup> {}
