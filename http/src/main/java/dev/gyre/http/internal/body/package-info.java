/// The formats of bodies and cookies: forms, multipart uploads, JSON and server-sent events.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.body;
