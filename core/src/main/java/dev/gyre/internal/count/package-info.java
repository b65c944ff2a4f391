/// Counts that one thread keeps and any thread reads.
@NullMarked
package dev.gyre.internal.count;

import org.jspecify.annotations.NullMarked;
