/// Descriptors, watchers, operations and buffer memory.
@NullMarked
package dev.gyre.internal.io;

import org.jspecify.annotations.NullMarked;
