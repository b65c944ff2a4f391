/// Memory that a loop holds on behalf of clients.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.memory;
