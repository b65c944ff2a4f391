/// HTTP/1.1 messages as bytes: heads, and chunked bodies that are decoded incrementally.
///
/// Start with [dev.gyre.http.internal.message.RequestHead]. Strict: input that two parsers could
/// read differently is rejected. [dev.gyre.http.internal.message.ParseError] lists the reasons.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.message;
