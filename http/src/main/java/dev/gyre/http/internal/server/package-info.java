/// The server's side of HTTP/1.1: connections, requests, answers, routes.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.server;
