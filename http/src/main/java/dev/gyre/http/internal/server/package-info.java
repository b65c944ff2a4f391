/// The server side of HTTP/1.1: connections, requests, responses and routes.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.server;
