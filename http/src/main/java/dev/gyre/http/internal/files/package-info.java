/// Static files: lookup confined to a directory, caching and sending.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.files;
