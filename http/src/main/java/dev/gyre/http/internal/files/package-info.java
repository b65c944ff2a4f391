/// Static files: finding them without a way out of their directory, knowing them for a while, sending them.
@org.jspecify.annotations.NullMarked
package dev.gyre.http.internal.files;
