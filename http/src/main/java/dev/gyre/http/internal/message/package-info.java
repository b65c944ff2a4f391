/// HTTP/1.1 messages as bytes: heads parsed where they lie, chunks as they come.
///
/// Start with [dev.gyre.http.internal.message.RequestHead]. Strict: what two readers could understand
/// differently is refused, and [dev.gyre.http.internal.message.Refusal] has the list.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.message;
