/// What a loop may hold of the heap for its peers.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.memory;
