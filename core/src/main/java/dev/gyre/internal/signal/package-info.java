/// Who takes which signal of this process, and how each gets to a loop.
@NullMarked
package dev.gyre.internal.signal;

import org.jspecify.annotations.NullMarked;
